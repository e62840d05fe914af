// SPDX-License-Identifier: Apache-2.0
// Reads the kernel side's spool in step with the calls or operations that are split: up to the end of the current one
// plus kAheadNs, because records are only nearly in order of their end.
#pragma once

#include <cstdint>
#include <optional>

#include "runner/trace/kernel/call_splitter.h"
#include "runner/trace/kernel/kernel_end.h"
#include "runner/trace/kernel/kernel_window.h"
#include "runner/trace/rows/slice_rows.h"
#include "runner/trace/spool/spool_cursor.h"

namespace mlrun::trace {

class KernelFollower {
 public:
  // Requires: fd (of the spool, `bytes` long) stays open; `end` was notified of all records.
  KernelFollower(int fd, uint64_t bytes, const KernelEnd& end, const model::FileTable& files)
      : cursor_(fd, 0, bytes, bytes), splitter_(window_, files) {
    if (end.gap() != nullptr) window_.add(*end.gap());
  }

  // Sets CallRow::split, stored in SliceRows::splits. Requires: slices in order of time.
  void split(SliceRows& slice_rows);

  // As CallSplitter::split(). Requires: operations in order of their end.
  [[nodiscard]] std::optional<model::CallSplit> split(const FileOpRow& row, bool syncs);

 private:
  void advance(int64_t until_ns);
  void add_frame();

  SpoolCursor cursor_;
  SpoolFrame frame_;
  KernelWindow window_;
  CallSplitter splitter_;
  int64_t reached_ns_ = INT64_MIN;
  bool ended_ = false;
};

}  // namespace mlrun::trace
