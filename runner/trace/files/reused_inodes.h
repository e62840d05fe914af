// SPDX-License-Identifier: Apache-2.0
// Records when calls used each of the files that share an inode number, because a file system reuses the numbers of
// deleted files; so kernel records of an inode get the name that was valid at that moment (files_by_inode.h). Hard
// links share a number too, and get the name used last.
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
  explicit ReusedInodes(size_t most = decode::kObservedFilesMax) : most_(most) {}

  // Requires: all files with calls are known.
  void load(const model::FileTable& files);
  // Thread-safe, in any order. Ignores failed calls.
  void call(const model::CallRow& row);

  // Requires: all calls were passed to call().
  [[nodiscard]] const std::vector<FileSeen>& seen() const { return seen_; }
  [[nodiscard]] uint64_t left_out() const { return left_out_; }

 private:
  void add(const model::CallRow& row, int64_t file_id);

  size_t most_;
  std::vector<bool> is_shared_;  // by file_id - 1: shares its inode number
  std::mutex mutex_;
  std::vector<FileSeen> seen_;
  uint64_t left_out_ = 0;
};

}  // namespace mlrun::trace
