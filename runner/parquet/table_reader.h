// SPDX-License-Identifier: Apache-2.0
// Reads tables/NAME/*.parquet of a trace: selected columns, and only row groups that may overlap a time range.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "runner/util/result.h"

namespace arrow {
class RecordBatch;
class Schema;
class Table;
}  // namespace arrow

namespace mlrun::tables {

struct TableQuery {
  std::vector<std::string> columns;  // empty: all
  // May skip rows that end before from_ns or begin after to_ns; may also return some of them.
  int64_t from_ns = std::numeric_limits<int64_t>::min();
  int64_t to_ns = std::numeric_limits<int64_t>::max();
  std::vector<std::string> dictionaries =
      {};  // text columns to be read as dictionaries: cheaper where few texts repeat
  bool read_ahead =
      false;  // decode the next rows in a second thread meanwhile, if one can be started; they are held in memory
};

// One pass over a table, in order of its files. Memory: one row group at a time.
class TableReader {
 public:
  // `table`: a table, or a file of one as TABLE/FILE. Fails if the trace lacks it or a requested column.
  static Result<TableReader> open(const std::string& trace_folder, const std::string& table, TableQuery query = {});
  // A reader of a table without rows that needs no file.
  static TableReader empty(std::shared_ptr<arrow::Schema> schema);
  ~TableReader();
  TableReader(TableReader&&) noexcept;
  TableReader& operator=(TableReader&&) noexcept;

  [[nodiscard]] std::shared_ptr<arrow::Schema> schema() const;
  // The next rows; nullptr at the end.
  Result<std::shared_ptr<arrow::RecordBatch>> next();

 private:
  struct State;
  explicit TableReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Reads the whole table into memory; for small tables.
Result<std::shared_ptr<arrow::Table>> read_table(const std::string& trace_folder, const std::string& table,
                                                 TableQuery query = {});

// Whether the table has a file.
[[nodiscard]] bool has_table(const std::string& tables_folder, const std::string& table);

// Names of the trace's tables, sorted.
Result<std::vector<std::string>> list_tables(const std::string& trace_folder);

}  // namespace mlrun::tables
