// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/each_row.h"

#include <algorithm>

#include "runner/parquet/table_batches.h"
#include "runner/view/table_shape.h"

namespace mlrun::exchange {

Result<std::vector<std::string>> columns_of(Export& job, const std::string& table) {
  if (!job.has_table(table)) return std::vector<std::string>();
  const auto reader = tables::TableReader::open(job.trace_folder(), table);
  if (!reader) return tl::make_unexpected(reader.error());
  return reader->schema()->field_names();
}

Result<int64_t> each_row(Export& job, const std::string& table, const std::vector<std::string>& columns,
                         const std::function<void(const Row&)>& visit) {
  if (!job.has_table(table)) return 0;
  const auto stored = columns_of(job, table);
  if (!stored) return tl::make_unexpected(stored.error());
  std::vector<std::string> wanted;
  std::copy_if(columns.begin(), columns.end(), std::back_inserter(wanted), [&](const std::string& name) {
    return std::find(stored->begin(), stored->end(), name) != stored->end();
  });
  int64_t rows = 0;
  const Status read =
      tables::for_each_batch(job.trace_folder(), table, {.columns = wanted}, [&](const arrow::RecordBatch& batch) {
        std::vector<Values> fields;
        for (const std::string& column : columns) fields.emplace_back(batch, column.c_str());
        for (int64_t row = 0; row < batch.num_rows(); ++row) visit(Row(fields, row));
        rows += batch.num_rows();
      });
  if (!read) return tl::make_unexpected(read.error());
  return rows;
}

Result<int64_t> rows_in(Export& job, const std::string& table) {
  if (!job.has_table(table)) return 0;
  const auto shape = view::table_shape(job.trace_folder(), table);
  if (!shape) return tl::make_unexpected(shape.error());
  return shape->rows;
}

Status leave_out_others(Export& job, const std::set<std::string>& handled, const std::string& reason) {
  const auto tables = tables::list_tables(job.trace_folder());
  if (!tables) return tl::make_unexpected(tables.error());
  for (const std::string& table : *tables) {
    if (handled.contains(table)) continue;
    const auto rows = rows_in(job, table);
    if (!rows) return tl::make_unexpected(rows.error());
    job.account().left_out(table, reason, *rows);
  }
  return {};
}

}  // namespace mlrun::exchange
