// SPDX-License-Identifier: Apache-2.0
// Sets the file of msync, madvise and munmap: the one mapped at their address.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "runner/model/trace_info.h"
#include "runner/trace/files/file_index.h"
#include "runner/trace/files/mapped_files.h"
#include "runner/trace/rows/slice_rows.h"

namespace mlrun::trace {

class MappingFiles {
 public:
  // Requires: both outlive it, and the processes are known.
  MappingFiles(const FileIndex& files, const model::TraceInfo& info) : files_(files), info_(info) {}

  // Requires: slices in order of time.
  void apply(SliceRows& slice_rows);

 private:
  void meet(const model::Origin& origin);
  void see(model::CallRow& row);

  const FileIndex& files_;
  const model::TraceInfo& info_;
  MappedFiles mapped_;                           // by image: exec unmaps everything
  std::unordered_map<int32_t, int32_t> images_;  // by process: its latest image
};

}  // namespace mlrun::trace
