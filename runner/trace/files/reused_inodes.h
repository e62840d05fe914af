// SPDX-License-Identifier: Apache-2.0
// When calls were on which of the files that had the same inode number: a file system gives that of a deleted file to a
// new one. So what the kernel tells of an inode has the name that was meant at that moment (files_by_inode.h). A hard
// link is such a file as well, and has the name that was used last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "runner/decode/limits.h"
#include "runner/model/file_table.h"
#include "runner/model/rows.h"
#include "runner/trace/files/files_by_inode.h"

namespace mlrun::trace {

class ReusedInodes {
 public:
  explicit ReusedInodes(size_t most = kObservedFilesMax) : most_(most) {}

  // Requires: all files are known that calls are on.
  void load(const model::FileTable& files);
  // From several threads at once, in any order. Of one that failed nothing is known.
  void call(const model::CallRow& row);

  // Requires: all calls have passed by.
  [[nodiscard]] const std::vector<FileSeen>& seen() const { return seen_; }
  [[nodiscard]] uint64_t left_out() const { return left_out_; }

 private:
  void add(const model::CallRow& row, int64_t file_id);

  size_t most_;
  std::vector<bool> is_shared_;  // by file_id - 1: its inode number is another file's, too
  std::mutex mutex_;
  std::vector<FileSeen> seen_;
  uint64_t left_out_ = 0;
};

}  // namespace mlrun::trace
