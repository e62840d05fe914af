// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/file_meter.h"

namespace mlrun::summary {

void FileMeter::add(const model::CallRow& row, const CallFacts& facts) {
  File* file = nullptr;
  if (row.file_id != 0) {
    if (const uint32_t* place = places_.find(uint64_t(row.file_id))) {
      file = &files_[*place - 1];
    } else if (files_.size() < kMaxFiles) {
      file = &files_.emplace_back();
      file->file_id = row.file_id;
      places_.at(uint64_t(row.file_id)) = uint32_t(files_.size());
    }
  }
  count(file ? file->totals : without_place_, facts, row.dur_ns);
  if (!facts.is_read || facts.bytes == 0) return;
  const bool followed = file && row.offset >= 0 && row.offset <= INT64_MAX - facts.bytes &&
                        file->read.add(row.offset, row.offset + facts.bytes, budget_);
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
