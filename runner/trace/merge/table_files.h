// SPDX-License-Identifier: Apache-2.0
// Writes a table file of each event table for each slice.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runner/trace/gpu/gpu_tables.h"
#include "runner/trace/kernel/call_join.h"
#include "runner/trace/marks/mark_table.h"
#include "runner/trace/merge/call_tables.h"
#include "runner/trace/rows/slice_rows.h"

namespace mlrun::trace {

// Writes the files of one slice in all event tables; one per thread, because it reuses its buffers.
class TableFileWriter {
 public:
  // Names of the event tables.
  static std::vector<std::string> tables(bool has_gpu);
  // `tables_folder` has a folder for each of these tables. `has_gpu`: GPU work may have been recorded, so its tables are written.
  // `join`: receives every call; nullptr without the kernel side.
  TableFileWriter(std::string tables_folder, bool has_gpu, CallJoin* join = nullptr)
      : folder_(std::move(tables_folder)), has_gpu_(has_gpu), join_(join), calls_(join != nullptr) {}

  void set(PlacedNodes nodes) { allocs_.set(std::move(nodes)); }

  // Writes the rows of each table in row groups: groups follow each other in order of the rows' ends, and the rows of a
  // group are sorted by start. Calls get ids from first_call_id on. A table without rows gets a file in the first slice
  // only, so that every table has a file with its columns; `mark` gets none, since it always has a file of the MLLOG marks.
  Status write(const SliceRows& slice_rows, size_t number, int64_t first_call_id);
  // For a slice whose files exist: only passes its calls to the kernel side, as write() does.
  void pass(const SliceRows& slice_rows, int64_t first_call_id);

 private:
  template <typename RowVector, typename Visit>
  Status for_each_group(const RowVector& rows, size_t count, const SliceRows& slice_rows, RowKind kind, Visit visit);
  template <typename RowVector, typename Add>
  void add_group(const RowVector& rows, Add add);
  template <typename Table, typename RowVector, typename Add>
  Status write_table(Table& table, const RowVector& rows, size_t count, const SliceRows& slice_rows, RowKind kind,
                     size_t number, Add add);

  Status write_gpu(const SliceRows& slice_rows, size_t number);

  std::string folder_;
  bool has_gpu_;
  CallJoin* join_;
  CallTable calls_;
  AllocTable allocs_;
  AllocSmallTable alloc_small_;
  MarkTable marks_;
  GpuApiTable gpu_api_;
  GpuKernelTable gpu_kernels_;
  GpuMemcpyTable gpu_memcpys_;
  GpuMemsetTable gpu_memsets_;
  GpuSyncTable gpu_syncs_;
  GpuMemoryTable gpu_memories_;
  GpuGraphTable gpu_graphs_;
  std::vector<RowRef> group_, spare_;
};

}  // namespace mlrun::trace
