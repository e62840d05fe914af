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
using SliceTable = tables::RowTable<SliceColumns, model::SliceRow, GroupEnds>;
using FlowTable = tables::RowTable<FlowColumns, model::FlowRow, GroupEnds>;
using CounterTable = tables::RowTable<CounterColumns, model::CounterRow, GroupEnds>;
using StackSampleTable = tables::RowTable<StackSampleColumns, model::StackSampleRow, GroupEnds>;
using OtherEventTable = tables::RowTable<OtherEventColumns, model::OtherEventRow, GroupEnds>;

}  // namespace mlrun::trace

extern template class mlrun::tables::RowTable<mlrun::trace::SliceColumns, mlrun::model::SliceRow,
                                              mlrun::trace::GroupEnds>;
extern template class mlrun::tables::RowTable<mlrun::trace::FlowColumns, mlrun::model::FlowRow,
                                              mlrun::trace::GroupEnds>;
extern template class mlrun::tables::RowTable<mlrun::trace::CounterColumns, mlrun::model::CounterRow,
                                              mlrun::trace::GroupEnds>;
extern template class mlrun::tables::RowTable<mlrun::trace::StackSampleColumns, mlrun::model::StackSampleRow,
                                              mlrun::trace::GroupEnds>;
extern template class mlrun::tables::RowTable<mlrun::trace::OtherEventColumns, mlrun::model::OtherEventRow,
                                              mlrun::trace::GroupEnds>;
