// SPDX-License-Identifier: Apache-2.0
// One part, a file, of each event table for each partition.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runner/trace/gpu/gpu_tables.h"
#include "runner/trace/kernel/call_join.h"
#include "runner/trace/marks/mark_table.h"
#include "runner/trace/merge/call_tables.h"
#include "runner/trace/rows/partition.h"

namespace mlrun::trace {

// Writes the parts of the event tables; one for each thread, because its buffers are used again and again.
class PartWriter {
 public:
  // The tables that parts are written of.
  static std::vector<std::string> tables(bool has_gpu);
  // `tables_folder` holds a folder for each of them already.
  // `has_gpu`: GPU work was recorded, so that its tables are there. `join`: told of every call; nullptr without the
  // kernel side.
  PartWriter(std::string tables_folder, bool has_gpu, CallJoin* join = nullptr)
      : folder_(std::move(tables_folder)), has_gpu_(has_gpu), join_(join), calls_(join != nullptr) {}

  // Rows of a table in groups by end time, in each group by start. Calls are numbered from first_call_id on. A table
  // without rows gets a part only if it is the first one, so that every table has a file that tells its columns.
  Status write(const Partition& partition, size_t number, int64_t first_call_id);
  // For a part whose files are there: tells the kernel side of its calls, as write() does.
  void pass(const Partition& partition, int64_t first_call_id);

 private:
  template <typename RowVector, typename Visit>
  Status for_each_group(const RowVector& rows, size_t count, const Partition& partition, RowKind kind, Visit visit);
  template <typename RowVector, typename Add>
  void add_group(const RowVector& rows, Add add);
  template <typename Table, typename RowVector, typename Add>
  Status write_table(Table& table, const RowVector& rows, size_t count, const Partition& partition, RowKind kind,
                     size_t number, Add add);

  Status write_gpu(const Partition& partition, size_t number);

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
