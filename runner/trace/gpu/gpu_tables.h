// SPDX-License-Identifier: Apache-2.0
// The tables of GPU work: gpu_api, gpu_kernel, gpu_memcpy, gpu_memset, gpu_sync, gpu_memory, gpu_graph. Columns:
// TABLES.md.
#pragma once

#include <string>

#include "runner/model/gpu_rows.h"
#include "runner/parquet/parquet_table.h"

namespace mlrun::trace {

struct GroupEnds;

// Columns shared by these tables.
class GpuEventTable {
 public:
  explicit GpuEventTable(const char* name);
  void set(const GroupEnds& ends);
  ParquetTable& parquet() { return table_; }

 protected:
  void add_common(const model::GpuWorkRow& row);
  ParquetTable table_;

 private:
  SameColumn &end_min_, &end_max_;
  Int64Column& ts_;
  Int32Column &proc_id_, &image_id_, &thread_id_, &pid_, &tid_;
  Int64Column &dur_, &correlation_id_, &mark_id_;
  LabelColumn& clock_;
};

class GpuApiTable : public GpuEventTable {
 public:
  GpuApiTable();
  void add(const model::GpuWorkRow& row);

 private:
  TextColumn& func_;
  LabelColumn& api_;
  Int64Column& result_;
  LabelColumn& source_;
};

// Work on a device, in a stream.
class GpuWorkTable : public GpuEventTable {
 public:
  explicit GpuWorkTable(const char* name);

 protected:
  void add_work(const model::GpuWorkRow& row);

 private:
  Int32Column& gpu_id_;
  Int64Column &context_, &stream_, &graph_id_, &graph_node_;
};

class GpuKernelTable : public GpuWorkTable {
 public:
  GpuKernelTable();
  void add(const model::GpuWorkRow& row);

 private:
  Int64Column& name_id_;
  Int64Column &grid_x_, &grid_y_, &grid_z_, &block_x_, &block_y_, &block_z_;
  Int64Column &registers_, &static_shared_, &dynamic_shared_, &local_bytes_;
};

class GpuMemcpyTable : public GpuWorkTable {
 public:
  GpuMemcpyTable();
  void add(const model::GpuWorkRow& row);

 private:
  LabelColumn &kind_, &source_, &target_;
  Int64Column& bytes_;
  BoolColumn& async_;
  Int32Column &source_gpu_id_, &target_gpu_id_;
};

class GpuMemsetTable : public GpuWorkTable {
 public:
  GpuMemsetTable();
  void add(const model::GpuWorkRow& row);

 private:
  LabelColumn& memory_;
  Int64Column &bytes_, &value_;
  BoolColumn& async_;
};

class GpuSyncTable : public GpuEventTable {
 public:
  GpuSyncTable();
  void add(const model::GpuWorkRow& row);

 private:
  LabelColumn& kind_;
  Int64Column &context_, &stream_, &event_;
  LabelColumn& source_;
};

// Launches of graphs that CUPTI reports as a whole.
class GpuGraphTable : public GpuEventTable {
 public:
  GpuGraphTable();
  void add(const model::GpuWorkRow& row);

 private:
  Int32Column& gpu_id_;
  Int64Column &context_, &stream_, &graph_id_, &nodes_, &busy_;
};

class GpuMemoryTable : public GpuEventTable {
 public:
  GpuMemoryTable();
  void add(const model::GpuWorkRow& row);

 private:
  Int32Column& gpu_id_;
  Int64Column &context_, &stream_;
  LabelColumn &operation_, &memory_;
  Int64Column &address_, &bytes_;
  BoolColumn& async_;
  LabelColumn& pool_;
  Int64Column &pool_address_, &pool_bytes_, &pool_used_;
  LabelColumn& source_;
  TextColumn& func_;
  BoolColumn& is_handle_;
  Int32Column &stack_id_, &device_;
  Int64Column &site_, &site_library_, &site_offset_;
};

}  // namespace mlrun::trace
