// SPDX-License-Identifier: Apache-2.0
#include "runner/view/table_shape.h"

#include <filesystem>
#include <system_error>

#include <parquet/exception.h>
#include <parquet/file_reader.h>

#include "runner/parquet/table_reader.h"
#include "runner/parquet/trace_condition.h"

namespace mlrun::view {

Result<TableShape> table_shape(const std::string& trace_folder, const std::string& table) {
  namespace fs = std::filesystem;
  TableShape shape;
  if (!trace::has_table(trace_folder + "/tables", table)) return shape;
  std::error_code error;
  for (fs::directory_iterator at(fs::path(trace_folder) / "tables" / table, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() != ".parquet") continue;
    try {
      shape.rows += parquet::ParquetFileReader::OpenFile(at->path().string())->metadata()->num_rows();
    } catch (const parquet::ParquetException& exception) {
      return trace::damaged(trace_folder, "cannot read " + at->path().string() + ": " + exception.what());
    }
    std::error_code gone;
    shape.size_bytes += int64_t(at->file_size(gone));
    ++shape.parts;
  }
  if (error) return fail("cannot read the table '" + table + "' of " + trace_folder + ": " + error.message());
  return shape;
}

}  // namespace mlrun::view
