// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/file_meter.h"

#include "runner/util/prefetch.h"
#include "runner/util/saturating.h"

namespace mlrun::summary {

void FileMeter::add(int64_t file_id, const model::CallRow& row, const CallFacts& facts) {
  File* file = place(file_id);
  count(file ? file->totals : without_place_, facts, row.dur_ns);
  if (!facts.is_read) return;
  if (file != nullptr) {
    file->end_checks += facts.ends_file;
    if (facts.order == Order::kSequential) util::add_to(file->sequential_bytes, facts.bytes);
    if (facts.order == Order::kRandom) util::add_to(file->random_bytes, facts.bytes);
  }
  if (facts.bytes == 0) return;
  const bool followed = file && facts.offset >= 0 && facts.offset <= INT64_MAX - facts.bytes &&
                        file->read.add(facts.offset, facts.offset + facts.bytes, budget_);
  if (!followed) util::add_to(bytes_left_out_, facts.bytes);
}

void FileMeter::add(int64_t file_id, const Totals& totals) {
  File* file = place(file_id);
  (file ? file->totals : without_place_).add(totals);
}

void FileMeter::add(int64_t file_id, const CacheMisses& misses) {
  if (misses.bytes() == 0) return;
  File* file = place(file_id);
  (file ? file->misses : misses_without_place_).add(misses);
}

void FileMeter::add_shared(int64_t file_id, int64_t other_file_id, const Totals& totals) {
  const std::pair key(file_id, other_file_id);
  auto found = shared_.find(key);
  if (found == shared_.end() && shared_.size() >= kMaxPairs) return;
  Shared& sum = found == shared_.end() ? shared_[key] : found->second;
  util::add_to(sum.calls, totals.calls);
  util::add_to(sum.errors, totals.errors);
  util::add_to(sum.time_ns, totals.time_ns);
}

const FileMeter::File* FileMeter::find(int64_t file_id) const {
  const auto* found = file_id == 0 ? nullptr : places_.find(uint64_t(file_id));
  return found ? *found : nullptr;
}

void FileMeter::prefetch_slot(const model::CallRow& row) const {
  if (row.file_id != 0) places_.prefetch(uint64_t(row.file_id));
}

void FileMeter::prefetch_file(const model::CallRow& row) const {
  if (const File* file = find(row.file_id)) util::prefetch_whole(*file);
}

void FileMeter::prefetch_bytes(const model::CallRow& row) const {
  if (row.offset < 0) return;
  if (const File* file = find(row.file_id)) file->read.prefetch(row.offset);
}

FileMeter::File* FileMeter::place(int64_t file_id) {
  if (file_id == 0) return nullptr;
  if (File** found = places_.find(uint64_t(file_id))) return *found;
  if (full()) return nullptr;
  File* file = &files_.emplace_back();
  file->file_id = file_id;
  return places_.at(uint64_t(file_id)) = file;
}

Reread FileMeter::reread() const {
  Reread out;
  out.bytes_left_out = bytes_left_out_;
  for (const File& file : files_) {
    util::add_to(out.bytes_read, file.read.bytes_added());
    util::add_to(out.distinct_bytes, file.read.distinct_bytes());
    out.page_counted_files += file.read.by_page();
  }
  return out;
}

}  // namespace mlrun::summary
