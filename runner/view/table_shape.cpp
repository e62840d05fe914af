// SPDX-License-Identifier: Apache-2.0
#include "runner/view/table_shape.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/statistics.h>

#include "runner/parquet/table_reader.h"
#include "runner/util/damaged_trace.h"

namespace mlrun::view {

namespace {

void add_file(const parquet::FileMetaData& file, TableShape& shape) {
  shape.rows += file.num_rows();
  const int ts = file.schema()->ColumnIndex("ts");
  for (int group = 0; ts >= 0 && group < file.num_row_groups(); ++group) {
    const auto statistics = file.RowGroup(group)->ColumnChunk(ts)->statistics();
    if (!statistics || !statistics->HasMinMax() || statistics->physical_type() != parquet::Type::INT64) continue;
    shape.first_ns = std::min(shape.first_ns, static_cast<const parquet::Int64Statistics&>(*statistics).min());
  }
}

}  // namespace

std::string file_of_node(const std::string& table, int64_t node_id) {
  return fmt::format("{}/part-{:05}.parquet", table, node_id - 1);
}

Result<TableShape> table_shape(const std::string& trace_folder, const std::string& table, int64_t node_id) {
  namespace fs = std::filesystem;
  TableShape shape;
  if (!tables::has_table(trace_folder + "/tables", table)) return shape;
  std::error_code error;
  for (fs::directory_iterator at(fs::path(trace_folder) / "tables" / table, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() != ".parquet") continue;
    if (node_id != 0 && at->path() != fs::path(trace_folder) / "tables" / file_of_node(table, node_id)) continue;
    try {
      add_file(*parquet::ParquetFileReader::OpenFile(at->path().string())->metadata(), shape);
    } catch (const parquet::ParquetException& exception) {
      return util::damaged_trace(trace_folder, "cannot read " + at->path().string() + ": " + exception.what());
    }
    std::error_code gone;
    shape.size_bytes += int64_t(at->file_size(gone));
    ++shape.files;
  }
  if (error) return fail("cannot read the table '" + table + "' of " + trace_folder + ": " + error.message());
  return shape;
}

}  // namespace mlrun::view
