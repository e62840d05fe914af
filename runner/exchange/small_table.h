// SPDX-License-Identifier: Apache-2.0
// All rows of a table, one after the other: for tables of names, and passes that need no order.
#pragma once

#include <vector>

#include <arrow/api.h>

#include "runner/exchange/export.h"
#include "runner/exchange/values.h"
#include "runner/parquet/table_reader.h"

namespace mlrun::exchange {

// Calls read_row(values of `columns`, row) for each. Columns that the table lacks are null; a table that the trace lacks has no rows.
template <typename ReadRow>
Status read_small_table(const Export& job, const char* table, const std::vector<const char*>& columns,
                        ReadRow read_row) {
  if (!job.has_table(table)) return {};
  auto reader = trace::TableReader::open(job.trace_folder(), table, {});
  if (!reader) return tl::make_unexpected(reader.error());
  for (;;) {
    const auto batch = reader->next();
    if (!batch) return tl::make_unexpected(batch.error());
    if (!*batch) return {};
    std::vector<Values> values;
    for (const char* column : columns) values.emplace_back(**batch, column);
    for (int64_t row = 0; row < (*batch)->num_rows(); ++row) read_row(values, row);
  }
}

}  // namespace mlrun::exchange
