// SPDX-License-Identifier: Apache-2.0
// The tables that only imported traces fill: slice, flow, counter, stack_sample, import_event. Columns: TABLES.md.
#pragma once

#include "runner/model/imported_rows.h"
#include "runner/parquet/row_table.h"
#include "runner/trace/rows/origin_columns.h"

namespace mlrun::trace {

struct SliceColumns;
struct FlowColumns;
struct CounterColumns;
struct StackSampleColumns;
struct OtherEventColumns;
using SliceTable = RowTable<SliceColumns, model::SliceRow, GroupEnds>;
using FlowTable = RowTable<FlowColumns, model::FlowRow, GroupEnds>;
using CounterTable = RowTable<CounterColumns, model::CounterRow, GroupEnds>;
using StackSampleTable = RowTable<StackSampleColumns, model::StackSampleRow, GroupEnds>;
using OtherEventTable = RowTable<OtherEventColumns, model::OtherEventRow, GroupEnds>;
extern template class RowTable<SliceColumns, model::SliceRow, GroupEnds>;
extern template class RowTable<FlowColumns, model::FlowRow, GroupEnds>;
extern template class RowTable<CounterColumns, model::CounterRow, GroupEnds>;
extern template class RowTable<StackSampleColumns, model::StackSampleRow, GroupEnds>;
extern template class RowTable<OtherEventColumns, model::OtherEventRow, GroupEnds>;

}  // namespace mlrun::trace
