// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/file_meter.h"

namespace mlrun::summary {

void FileMeter::add(const model::CallRow& row, const CallFacts& facts) {
  File* file = place(row.file_id);
  if (file) {
    const char* bytes = reinterpret_cast<const char*>(file);
    for (size_t at = 0; at < sizeof(File) - 1; at += 64) __builtin_prefetch(bytes + at);
    __builtin_prefetch(bytes + sizeof(File) - 1);
  }
  if (waiting_calls_ - counted_calls_ == kWaiting) count_call(waiting_[counted_calls_++ % kWaiting]);
  waiting_[waiting_calls_++ % kWaiting] = {file, facts, row.dur_ns};
}

void FileMeter::finish() {
  while (counted_calls_ != waiting_calls_) count_call(waiting_[counted_calls_++ % kWaiting]);
}

FileMeter::File* FileMeter::place(int64_t file_id) {
  if (file_id == 0) return nullptr;
  if (File** found = places_.find(uint64_t(file_id))) return *found;
  if (full()) return nullptr;
  File* file = &files_.emplace_back();
  file->file_id = file_id;
  return places_.at(uint64_t(file_id)) = file;
}

void FileMeter::count_call(const Call& call) {
  const CallFacts& facts = call.facts;
  count(call.file ? call.file->totals : without_place_, facts, call.dur_ns);
  if (!facts.is_read || facts.bytes == 0) return;
  const bool followed = call.file && facts.offset >= 0 && facts.offset <= INT64_MAX - facts.bytes &&
                        call.file->read.add(facts.offset, facts.offset + facts.bytes, budget_);
  if (!followed) bytes_left_out_ += facts.bytes;
}

Reread FileMeter::reread() const {
  Reread out;
  out.bytes_left_out = bytes_left_out_;
  for (const File& file : files_) {
    out.bytes_read += file.read.bytes_added();
    out.distinct_bytes += file.read.distinct_bytes();
    out.page_counted_files += file.read.by_page();
  }
  return out;
}

}  // namespace mlrun::summary
