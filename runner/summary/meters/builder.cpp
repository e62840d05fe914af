// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "runner/events/call_layout.h"
#include "runner/events/record.h"
#include "runner/summary/meters/builder_state.h"
#include "runner/util/saturating.h"

namespace mlrun::summary {

namespace {

constexpr size_t kMadeFoldersMax = 16;

}  // namespace

Builder::State::State(BuilderOptions options)
    : alloc_min_bytes(options.alloc_min_bytes),
      alloc_sample_bytes(options.alloc_sample_bytes),
      has_page_cache(options.has_page_cache),
      names(options.files),
      timeline(options.start_ns),
      phases(std::move(options.phases), options.undecided) {}

// proc_id 0 ("unknown") has an entry as well.
Builder::State::Process& Builder::State::process(int32_t proc_id) {
  auto& place = processes.at(uint64_t(uint32_t(proc_id)) + 1);
  if (!place) place = std::make_unique<Process>(alloc_min_bytes, alloc_sample_bytes, block_room, mapping_room);
  return *place;
}

// A call that copies between two files counts for each of them, with its own direction.
void Builder::State::add_copied_files(const model::CallRow& row, const CallFacts& facts) {
  CallFacts side = facts;
  side.is_write = false;
  const int64_t from = names.key(row.file_id), to = names.key(row.file2_id);
  if (facts.is_read) files.add(from, row, side);
  if (!facts.is_write) return;
  side = facts;
  side.is_read = false;
  side.offset = row.offset2;
  files.add(to, row, side);
  if (!facts.is_read) return;
  Totals both;
  count(both, facts, row.dur_ns);
  files.add_shared(from, to, both);
}

// Notes whether a transfer is sequential or random. Reads also pass that on to their file (facts.order).
void Builder::State::note_file_access(const model::CallRow& row, mlrun_call_class call_class, CallFacts& facts) {
  if (facts.bytes > 0) {
    if (facts.is_read) facts.order = file_access.transfer(Direction::kRead, row.ofd_id, facts.offset, facts.bytes);
    const bool copied = call_class == MLRUN_CLASS_COPY;
    if (facts.is_write)
      file_access.transfer(Direction::kWrite, copied ? row.ofd2_id : row.ofd_id, copied ? row.offset2 : facts.offset,
                           facts.bytes);
  } else if (call_class == MLRUN_CLASS_OPEN && !facts.failed && (row.flags & O_APPEND) != 0) {
    file_access.opened_for_append(row.ofd_id);
  }
}

Builder::Builder(BuilderOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Builder::~Builder() = default;
Builder::Builder(Builder&&) noexcept = default;
Builder& Builder::operator=(Builder&&) noexcept = default;

void Builder::add(const model::CallRow& row) {
  State& s = *state_;
  const mlrun_call_class call_class = s.calls.call_class(row.func);
  CallFacts facts = call_facts(row, call_class);
  ++s.call_rows;
  s.served_calls += row.served_calls;
  State::Process& process = s.process(row.origin.proc_id);
  count(process.totals[size_t(facts.group)], facts, row.dur_ns);
  s.calls.add(row, facts);
  process.mappings.add(row);
  if (facts.group == Group::kWaits) process.waits.add(row);
  if (facts.group != Group::kFiles) return;
  if (row.func == events::func::k_mkdir && !facts.failed && process.made_folders.size() < kMadeFoldersMax) {
    process.made_folders.push_back(row.file_id);
  }

  const int64_t read = facts.is_read ? facts.bytes : 0, written = facts.is_write ? facts.bytes : 0;
  const int64_t key = s.names.note(row, call_class);
  s.note_file_access(row, call_class, facts);
  call_class == MLRUN_CLASS_COPY ? s.add_copied_files(row, facts) : s.files.add(key, row, facts);
  s.sites.add(row, facts);
  s.timeline.add(row.origin.ts_ns, row.dur_ns, read, written);
  s.phases.add(row.origin.proc_id, row.origin.ts_ns + row.dur_ns, row.dur_ns, read, written, row.split);
  if (row.split != nullptr) s.splits.add(SplitKind::kCalls, row.origin.proc_id, row.file_id, row.dur_ns, *row.split);
}

void Builder::add_operation(SplitKind kind, int32_t proc_id, int64_t file_id, int64_t end_ns,
                            const model::CallSplit& split) {
  state_->splits.add(kind, proc_id, file_id, split.sum(), split);
  state_->phases.add_operation(proc_id, end_ns, split);
}

void Builder::add_operation(int32_t proc_id, int64_t file_id, int64_t end_ns, const Totals& totals) {
  State& s = *state_;
  s.process(proc_id).totals[size_t(Group::kFiles)].add(totals);
  s.files.add(file_id, totals);
  s.timeline.add(end_ns - totals.time_ns, totals.time_ns, totals.bytes_read, totals.bytes_written);
  s.phases.add(proc_id, end_ns, totals);
}

void Builder::add_misses(int64_t file_id, int64_t missing_pages, int64_t ahead_pages) {
  constexpr int64_t kPageBytes = 4096;
  const auto bytes = [](int64_t pages) { return std::min(pages, INT64_MAX / kPageBytes) * kPageBytes; };
  state_->files.add(file_id, CacheMisses{bytes(missing_pages), bytes(ahead_pages)});
}

void Builder::add(const model::GpuFileRow& row, bool posix_is_counted) {
  State& s = *state_;
  const Totals totals = totals_of(row, posix_is_counted);
  const int64_t end_ns = row.origin.ts_ns + row.dur_ns;
  s.gpu_files.add(row);
  s.process(row.origin.proc_id).totals[size_t(Group::kFiles)].add(totals);
  s.files.add(row.file_id, totals);
  s.timeline.add(end_ns - totals.time_ns, totals.time_ns, totals.bytes_read, totals.bytes_written);
  s.phases.add(row.origin.proc_id, end_ns, totals);
}

void Builder::add(model::TorchMemoryRow& row) { state_->torch_memory.add(row); }

void Builder::add(const model::AllocRow& row) {
  ++state_->alloc_rows;
  if (row.op != MLRUN_FREE && row.address != 0) {
    state_->estimated_allocations += row.weight;
    state_->estimated_bytes += row.weight * double(row.size);
  }
  state_->sites.add(row);
  state_->process(row.origin.proc_id).heap.add(row);
}

void Builder::prefetch(const model::CallRow& row, Step step) const {
  switch (step) {
    case Step::kSlots: state_->file_access.prefetch(row.ofd_id); return state_->files.prefetch_slot(row);
    case Step::kEntries: return state_->files.prefetch_file(row);
    case Step::kContents: return state_->files.prefetch_bytes(row);
  }
}

void Builder::prefetch(const model::AllocRow& row, Step step) const {
  if (step != Step::kSlots) return;
  const auto* process = state_->processes.find(uint64_t(uint32_t(row.origin.proc_id)) + 1);
  if (process != nullptr && *process) (*process)->heap.prefetch(row);
}

void Builder::add(const model::AllocSmallRow& row) {
  util::add_to(state_->counted_allocations, row.mallocs);
  util::add_to(state_->counted_frees, row.frees);
  state_->process(row.origin.proc_id).heap.add(row);
}

}  // namespace mlrun::summary
