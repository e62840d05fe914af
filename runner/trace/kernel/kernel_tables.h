// SPDX-License-Identifier: Apache-2.0
// The tables block, block_part and wait of the kernel side (vfs: file_op_table.h). A row holds its record; columns:
// TABLES.md. OrderedTable writes the rows of a table in order of their end, into one file.
#pragma once

#include <cstdint>

#include "runner/events/kernel_record.h"
#include "runner/model/rows.h"
#include "runner/parquet/row_table.h"
#include "runner/trace/rows/origin_columns.h"

namespace mlrun::trace {

struct RequestRow {
  int64_t ts_ns = 0, end_ns = 0;
  mlrun_block_request record{};
};

struct FragmentRow {
  int64_t ts_ns = 0, end_ns = 0;
  model::Origin origin;
  int64_t call_id = 0, file_id = 0;
  mlrun_bio_fragment record{};
};

struct WaitRow {
  int64_t ts_ns = 0, end_ns = 0;
  model::Origin origin;
  mlrun_wait record{};
};

struct RequestColumns;
struct FragmentColumns;
struct WaitColumns;
using RequestTable = tables::RowTable<RequestColumns, RequestRow, GroupEnds>;
using FragmentTable = tables::RowTable<FragmentColumns, FragmentRow, GroupEnds>;
using WaitTable = tables::RowTable<WaitColumns, WaitRow, GroupEnds>;

}  // namespace mlrun::trace

extern template class mlrun::tables::RowTable<mlrun::trace::RequestColumns, mlrun::trace::RequestRow,
                                              mlrun::trace::GroupEnds>;
extern template class mlrun::tables::RowTable<mlrun::trace::FragmentColumns, mlrun::trace::FragmentRow,
                                              mlrun::trace::GroupEnds>;
extern template class mlrun::tables::RowTable<mlrun::trace::WaitColumns, mlrun::trace::WaitRow,
                                              mlrun::trace::GroupEnds>;
