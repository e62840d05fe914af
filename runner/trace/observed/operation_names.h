// SPDX-License-Identifier: Apache-2.0
// Names given to the kernel's operations on names (unlink, rename, mkdir, rmdir), as paths of the table file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "runner/decode/kernel_view.h"
#include "runner/decode/limits.h"
#include "runner/model/trace_info.h"
#include "runner/trace/observed/observed_files.h"

namespace mlrun::trace {

class OperationNames {
 public:
  explicit OperationNames(size_t most = decode::kObservedFilesMax, size_t text_bytes = decode::kOperationNameBytesMax)
      : most_(most), texts_(text_bytes) {}

  // Accepts any record; ignores all but names. Records beyond the limits are counted.
  void add(const decode::KernelReader& reader);

  // Requires: everything was added, and `files` has all other files. A path refers to the file that has it; if none has
  // it, or several had it in turn, a row without an inode is added.
  void finish(model::FileTable& files);

  struct Files {
    int64_t file_id = 0, file2_id = 0;  // 0: unknown; file2_id: a rename's new name
  };
  // Requires: finish().
  [[nodiscard]] Files of(uint64_t operation) const;

  [[nodiscard]] uint64_t left_out() const { return left_out_; }

 private:
  size_t most_;
  TextBudget texts_;
  std::unordered_map<std::string, int64_t> paths_;  // index + 1; unused after finish()
  std::unordered_map<uint64_t, Files> operations_;  // by operation: values of paths_; after finish() file_ids
  uint64_t left_out_ = 0;
};

}  // namespace mlrun::trace
