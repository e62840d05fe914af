// SPDX-License-Identifier: Apache-2.0
// The big tables of a trace: calls, allocations, counted allocations. One part (a file) for each partition. What the
// columns mean: TABLES.md.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runner/model/rows.h"
#include "runner/trace/call_join.h"
#include "runner/trace/gpu_tables.h"
#include "runner/trace/mark_table.h"
#include "runner/trace/parquet_table.h"
#include "runner/trace/partition.h"

namespace mlrun::trace {

// When the rows of a row group end: the same in all its rows, so it takes no room, and its statistics let any reader
// pass over row groups that ended before a moment.
struct GroupEnds {
  int64_t min_ns = 0, max_ns = 0;
};

// The columns that every event table begins with.
struct OriginColumns {
  explicit OriginColumns(ParquetTable& table);
  void add(const model::Origin& origin);
  // Of rows that have an origin.
  template <typename Row>
  void add(std::span<const Row* const> rows);
  // Of the row group that ends now.
  void set(const GroupEnds& ends);

  SameColumn &end_min, &end_max;
  Int64Column& ts;
  Int32Column &proc_id, &image_id, &thread_id, &pid, &tid;
};

class CallTable {
 public:
  // Without the kernel side nothing is known of where the time went, nor of pages.
  explicit CallTable(bool has_kernel_side = false);
  // Columns take many rows at a time, so that the work on a row is a few instructions in a loop. `pages` of each row, with
  // the kernel side; the rows are numbered from call_id on.
  void add(std::span<const model::CallRow* const> rows, int64_t call_id,
           std::span<const std::optional<ReadPages>> pages = {});
  void set(const GroupEnds& ends) { origin_.set(ends); }
  ParquetTable& parquet() { return table_; }

 private:
  ParquetTable table_;
  Int64Column& call_id_;
  OriginColumns origin_;
  Int64Column& dur_;
  LabelColumn& func_;
  Int32Column& fd_;
  Int64Column &file_id_, &file2_id_, &ofd_id_, &offset_;
  LabelColumn& offset_source_;
  Int64Column &requested_, &ret_;
  Int32Column &err_, &flags_;
  Int64Column &arg2_, &wanted_addr_;
  LabelColumn& via_;
  Int32Column& served_calls_;
  Int32Column& stack_id_;
  Int64Column& gpu_file_id_;
  struct KernelColumns {
    explicit KernelColumns(ParquetTable& table);
    void add(const model::CallSplit* split, const std::optional<ReadPages>& pages);
    Int64Column &own, &runq, &vfs, &queue, &device, &device_shared, &remote, &wait, &miss_pages, &ra_pages;
  };
  std::optional<KernelColumns> kernel_;
};

class AllocTable {
 public:
  AllocTable();
  void add(std::span<const model::AllocRow* const> rows);
  void set(const GroupEnds& ends) { origin_.set(ends); }
  ParquetTable& parquet() { return table_; }

 private:
  ParquetTable table_;
  OriginColumns origin_;
  Int64Column& dur_;
  LabelColumn& op_;
  Int64Column &addr_, &size_, &usable_, &old_addr_, &old_usable_, &align_;
  DoubleColumn& weight_;
  Int64Column &site_, &site_library_, &site_offset_;
  Int32Column& stack_id_;
};

class AllocSmallTable {
 public:
  AllocSmallTable();
  void add(const model::AllocSmallRow& row);
  void set(const GroupEnds& ends) { origin_.set(ends); }
  ParquetTable& parquet() { return table_; }

 private:
  ParquetTable table_;
  OriginColumns origin_;
  Int64Column &class_bytes_, &mallocs_, &frees_, &bytes_;
};

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
