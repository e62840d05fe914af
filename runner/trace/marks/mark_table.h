// SPDX-License-Identifier: Apache-2.0
// The table of marks. Marks of programs have a table file per slice of time, marks of logs have one table file.
#pragma once

#include "runner/model/rows.h"
#include "runner/parquet/row_table.h"
#include "runner/trace/rows/origin_columns.h"

namespace mlrun::trace {

// Requires: rows have a name_id, or their name because there were too many names.
struct MarkColumns;
using MarkTable = tables::RowTable<MarkColumns, model::MarkRow, GroupEnds>;

}  // namespace mlrun::trace

extern template class mlrun::tables::RowTable<mlrun::trace::MarkColumns, mlrun::model::MarkRow,
                                              mlrun::trace::GroupEnds>;
