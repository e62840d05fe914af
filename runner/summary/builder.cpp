// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <utility>

#include "runner/summary/builder_state.h"

namespace mlrun::summary {

Builder::State::State(BuilderOptions options)
    : alloc_min_bytes(options.alloc_min_bytes), timeline(options.start_ns), phases(std::move(options.phases)) {}

// proc_id 0, "not known", has a place as well.
Builder::State::Process& Builder::State::process(int32_t proc_id) {
  auto& place = processes.at(uint64_t(uint32_t(proc_id)) + 1);
  if (!place) place = std::make_unique<Process>(alloc_min_bytes, block_room);
  return *place;
}

Builder::Builder(BuilderOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Builder::~Builder() = default;
Builder::Builder(Builder&&) noexcept = default;
Builder& Builder::operator=(Builder&&) noexcept = default;

void Builder::add(const model::CallRow& row) {
  State& s = *state_;
  const mlrun_call_class call_class = s.calls.call_class(row.func);
  const CallFacts facts = call_facts(row, call_class);
  s.access.prefetch(row.ofd_id);
  ++s.call_rows;
  count(s.process(row.origin.proc_id).totals[size_t(facts.group)], facts, row.dur_ns);
  s.calls.add(row, facts);
  if (facts.group != Group::kFiles) return;

  const int64_t read = facts.is_read ? facts.bytes : 0, written = facts.is_write ? facts.bytes : 0;
  s.files.add(row, facts);
  s.timeline.add(row.origin.ts_ns, row.dur_ns, read, written);
  s.phases.add(row.origin.proc_id, row.origin.ts_ns + row.dur_ns, row.dur_ns, read, written);
  if (facts.bytes > 0) {
    s.access.transfer(facts.is_read ? Direction::kRead : Direction::kWrite, row.ofd_id, facts.offset, facts.bytes);
  } else if (call_class == MLRUN_CLASS_OPEN && !facts.failed && (row.flags & O_APPEND) != 0) {
    s.access.opened_for_append(row.ofd_id);
  }
}

void Builder::add(const model::AllocRow& row) {
  ++state_->alloc_rows;
  state_->process(row.origin.proc_id).heap.add(row);
}

void Builder::add(const model::AllocSmallRow& row) {
  state_->counted_allocations += row.mallocs;
  state_->process(row.origin.proc_id).heap.add(row);
}

}  // namespace mlrun::summary
