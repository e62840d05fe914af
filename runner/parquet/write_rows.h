// SPDX-License-Identifier: Apache-2.0
// Writes a table with one file, row by row.
#pragma once

#include <string>

#include "runner/parquet/parquet_table.h"
#include "runner/util/result.h"

namespace mlrun::trace {

// Opens the table's only file, calls `add` for each row, and closes it.
template <typename Rows, typename Add>
Status write_rows(ParquetTable& table, const Rows& rows, const std::string& trace_folder, Add add) {
  if (auto opened = table.open_in(trace_folder + "/tables"); !opened) return opened;
  for (const auto& row : rows) {
    add(row);
    table.row_added();
    if (!table.full()) continue;
    if (auto ended = table.end_row_group(); !ended) return ended;
  }
  if (auto closed = table.close(); !closed) return tl::make_unexpected(closed.error());
  return {};
}

}  // namespace mlrun::trace
