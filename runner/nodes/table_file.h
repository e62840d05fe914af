// SPDX-License-Identifier: Apache-2.0
// One Parquet file of a trace, read by row groups.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runner/util/result.h"

namespace arrow {
class Schema;
class Table;
}  // namespace arrow
namespace parquet {
class FileMetaData;
namespace arrow {
class FileReader;
}
}  // namespace parquet

namespace mlrun::nodes {

class TableFile {
 public:
  static Result<TableFile> open(const std::string& path);
  ~TableFile();
  TableFile(TableFile&&) noexcept;

  [[nodiscard]] const parquet::FileMetaData& metadata() const;
  [[nodiscard]] const arrow::Schema& schema() const { return *schema_; }
  [[nodiscard]] int row_groups() const;
  [[nodiscard]] int64_t rows() const;
  // Columns of text or bytes are read as dictionaries.
  Result<std::shared_ptr<arrow::Table>> read(int row_group) const;
  // Largest value of a column of integers in the whole file, by its statistics if it has them; 0: none.
  [[nodiscard]] Result<int64_t> largest(int column) const;

 private:
  TableFile() = default;
  std::string path_;
  std::unique_ptr<parquet::arrow::FileReader> reader_;
  std::shared_ptr<arrow::Schema> schema_;
};

// Whether an error is about the trace's own files: that they are damaged, cannot be opened, or lack a column.
[[nodiscard]] bool is_about_trace(const Error& error, const std::string& trace_folder);

// The files of a table, in order.
std::vector<std::string> files_of(const std::string& trace_folder, const std::string& table);

}  // namespace mlrun::nodes
