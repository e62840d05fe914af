// SPDX-License-Identifier: Apache-2.0
// Writes rows that have Columns<Row> as one Parquet file of a trace.
#pragma once

#include <iterator>
#include <string>
#include <type_traits>

#include "runner/parquet/row_columns.h"
#include "runner/summary/tables/columns.h"

namespace mlrun::summary {

struct RowWriter {
  // `rows` may be any range.
  static Status write(const auto& rows, const std::string& trace_folder) {
    return tables::write_rows<Columns<std::decay_t<decltype(*std::begin(rows))>>>(rows, trace_folder);
  }
};

}  // namespace mlrun::summary
