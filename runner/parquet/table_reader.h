// SPDX-License-Identifier: Apache-2.0
// Reads tables/NAME/*.parquet of a trace: some columns, and only the row groups that may hold the times asked for.
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

namespace mlrun::trace {

struct TableQuery {
  std::vector<std::string> columns;  // empty: all
  // Rows may be left out that end before from_ns or begin after to_ns; all others come, and some beyond them.
  int64_t from_ns = std::numeric_limits<int64_t>::min();
  int64_t to_ns = std::numeric_limits<int64_t>::max();
};

// One pass over a table, in order of its parts. Memory: one row group at a time.
class TableReader {
 public:
  // Fails when the trace has no such table or lacks a column that is asked for.
  static Result<TableReader> open(const std::string& trace_folder, const std::string& table, TableQuery query = {});
  // A table without rows, of which there is no file.
  static TableReader empty(std::shared_ptr<arrow::Schema> schema);
  ~TableReader();
  TableReader(TableReader&&) noexcept;
  TableReader& operator=(TableReader&&) noexcept;

  [[nodiscard]] std::shared_ptr<arrow::Schema> schema() const;
  // The next rows; nullptr: no more.
  Result<std::shared_ptr<arrow::RecordBatch>> next();

 private:
  struct State;
  explicit TableReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The whole table in memory: for the small ones.
Result<std::shared_ptr<arrow::Table>> read_table(const std::string& trace_folder, const std::string& table,
                                                 TableQuery query = {});

// Is there a file of this table?
[[nodiscard]] bool has_table(const std::string& tables_folder, const std::string& table);

// Names of the tables that the trace has, sorted.
Result<std::vector<std::string>> list_tables(const std::string& trace_folder);

}  // namespace mlrun::trace
