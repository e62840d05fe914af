// SPDX-License-Identifier: Apache-2.0
// The large tables of a trace: calls, allocations, counted allocations. Columns: TABLES.md. The tables of calls and allocations have no
// list of columns (row_table.h): they add many rows column by column. With that, rows that are fetched ahead and a more even sort, a merge
// of 10 million events took 4.03 s of processor time instead of 4.79 s (commit c258cb8c).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runner/model/rows.h"
#include "runner/parquet/row_table.h"
#include "runner/trace/kernel/call_join.h"
#include "runner/trace/rows/origin_columns.h"
#include "runner/trace/samples/placed_nodes.h"

namespace mlrun::trace {

class CallTable {
 public:
  // Without the kernel side the columns for time split and pages are null.
  explicit CallTable(bool has_kernel_side = false);
  // Each column adds all of `rows` in one loop, which costs a few instructions a row. `pages`: page cache reads of each
  // row; empty without the kernel side. The rows get ids from call_id on.
  void add(std::span<const model::CallRow* const> rows, int64_t call_id,
           std::span<const std::optional<ReadPages>> pages = {});
  void set(const GroupEnds& ends) { origin_.set(ends); }
  tables::ParquetTable& parquet() { return table_; }

 private:
  tables::ParquetTable table_;
  tables::Int64Column& call_id_;
  OriginColumns origin_;
  tables::Int64Column& dur_;
  tables::LabelColumn& func_;
  tables::Int32Column& fd_;
  tables::Int64Column &file_id_, &file2_id_, &ofd_id_, &offset_;
  tables::LabelColumn& offset_source_;
  tables::Int64Column &requested_, &ret_;
  tables::Int32Column &err_, &flags_;
  tables::Int64Column &arg2_, &wanted_addr_;
  tables::LabelColumn& via_;
  tables::Int32Column& served_calls_;
  tables::Int32Column& stack_id_;
  tables::Int64Column& gpu_file_id_;
  tables::Int32Column& poster_thread_id_;
  std::vector<tables::Int64Column*> split_, pages_;  // empty without the kernel side
};

class AllocTable {
 public:
  AllocTable();
  void add(std::span<const model::AllocRow* const> rows);
  void set(const GroupEnds& ends) { origin_.set(ends); }
  void set(PlacedNodes nodes) { nodes_ = std::move(nodes); }
  tables::ParquetTable& parquet() { return table_; }

 private:
  PlacedNodes nodes_;
  tables::ParquetTable table_;
  OriginColumns origin_;
  tables::Int64Column& dur_;
  tables::LabelColumn& op_;
  tables::Int64Column &addr_, &size_, &usable_, &old_addr_, &old_usable_, &align_;
  tables::DoubleColumn& weight_;
  tables::Int64Column &site_, &site_library_, &site_offset_;
  tables::Int32Column& stack_id_;
  tables::Int64Column& node_;
};

struct AllocSmallColumns;
using AllocSmallTable = tables::RowTable<AllocSmallColumns, model::AllocSmallRow, GroupEnds>;

}  // namespace mlrun::trace

extern template class mlrun::tables::RowTable<mlrun::trace::AllocSmallColumns, mlrun::model::AllocSmallRow,
                                              mlrun::trace::GroupEnds>;
