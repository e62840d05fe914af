// SPDX-License-Identifier: Apache-2.0
// The big tables of a trace: calls, allocations, counted allocations. One part (a file) for each partition. What the
// columns mean: TABLES.md.
#pragma once

#include <string>
#include <vector>

#include "runner/model/rows.h"
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
  void add(const model::Origin& origin, const GroupEnds& ends);

  Int64Column &end_min, &end_max;
  Int64Column& ts;
  Int32Column &proc_id, &image_id, &thread_id, &pid, &tid;
};

class CallTable {
 public:
  CallTable();
  void add(const model::CallRow& row, const GroupEnds& ends, int64_t call_id);
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
  Int64Column& arg2_;
  Int32Column& served_calls_;
};

class AllocTable {
 public:
  AllocTable();
  void add(const model::AllocRow& row, const GroupEnds& ends);
  ParquetTable& parquet() { return table_; }

 private:
  ParquetTable table_;
  OriginColumns origin_;
  Int64Column& dur_;
  LabelColumn& op_;
  Int64Column &addr_, &size_, &usable_, &old_addr_, &old_usable_, &align_, &site_, &site_library_, &site_offset_;
};

class AllocSmallTable {
 public:
  AllocSmallTable();
  void add(const model::AllocSmallRow& row, const GroupEnds& ends);
  ParquetTable& parquet() { return table_; }

 private:
  ParquetTable table_;
  OriginColumns origin_;
  Int64Column &class_bytes_, &mallocs_, &frees_, &bytes_;
};

// Writes the parts of the event tables; one for each thread, because its buffers are used again and again.
class PartWriter {
 public:
  // `tables_folder` holds a folder for each table already.
  explicit PartWriter(std::string tables_folder) : folder_(std::move(tables_folder)) {}

  // Rows of a table in groups by end time, in each group by start. Calls are numbered from first_call_id on. A table
  // without rows gets a part only if it is the first one, so that every table has a file that tells its columns.
  Status write(const Partition& partition, size_t number, int64_t first_call_id);

 private:
  template <typename Table, typename Row, typename Add>
  Status write_table(Table& table, const std::vector<Row>& rows, const Partition& partition, RowKind kind,
                     size_t number, Add add);

  std::string folder_;
  CallTable calls_;
  AllocTable allocs_;
  AllocSmallTable alloc_small_;
  std::vector<RowRef> group_, spare_;
};

}  // namespace mlrun::trace
