// SPDX-License-Identifier: Apache-2.0
// The tables that only imported traces fill: slice, flow, counter, stack_sample, import_event. Columns: TABLES.md.
#pragma once

#include "runner/model/imported_rows.h"
#include "runner/parquet/row_table.h"
#include "runner/trace/rows/origin_columns.h"

namespace mlrun::trace {

struct SliceColumns;
struct FlowColumns;
struct StackSampleColumns;
struct OtherEventColumns;
using SliceTable = RowTable<SliceColumns, model::SliceRow, GroupEnds>;
using FlowTable = RowTable<FlowColumns, model::FlowRow, GroupEnds>;
using StackSampleTable = RowTable<StackSampleColumns, model::StackSampleRow, GroupEnds>;
using OtherEventTable = RowTable<OtherEventColumns, model::OtherEventRow, GroupEnds>;
extern template class RowTable<SliceColumns, model::SliceRow, GroupEnds>;
extern template class RowTable<FlowColumns, model::FlowRow, GroupEnds>;
extern template class RowTable<StackSampleColumns, model::StackSampleRow, GroupEnds>;
extern template class RowTable<OtherEventColumns, model::OtherEventRow, GroupEnds>;

// A class of its own, because it has a column of real numbers, which RowTable does not support.
class CounterTable {
 public:
  using Row = model::CounterRow;
  CounterTable();
  void add(const Row& row, const GroupEnds& ends);
  ParquetTable& parquet() { return table_; }

 private:
  ParquetTable table_;
  SameColumn &end_min_, &end_max_;
  Int64Column& ts_;
  Int32Column &proc_id_, &image_id_, &thread_id_, &pid_, &tid_;
  TextColumn &name_, &series_, &category_;
  DoubleColumn& value_;
};

}  // namespace mlrun::trace
