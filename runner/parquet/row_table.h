// SPDX-License-Identifier: Apache-2.0
// A table that is written row by row, given its list of columns. A list is a struct with the table's name and one line
// for each column, in order; runner/parquet/row_columns.h says what a line may be:
//
//   struct WaitColumns {
//     static constexpr const char* kTable = "wait";
//     static void visit(auto& visitor, const WaitRow& row) {
//       visitor("ts", row.ts_ns, tables::kDelta);
//       visitor.optional("rank", row.rank, -1);
//     }
//   };
//
// A header declares the list and the table, so that only its source needs the list:
//
//   struct WaitColumns;
//   using WaitTable = tables::RowTable<WaitColumns, WaitRow>;
//   }  // namespace mlrun::trace
//   extern template class mlrun::tables::RowTable<mlrun::trace::WaitColumns, mlrun::trace::WaitRow>;
#pragma once

#include <functional>
#include <vector>

#include "runner/parquet/parquet_table.h"
#include "runner/util/result.h"

namespace mlrun::tables {

// `Also`: further arguments of the list's visit(), for instance the bounds of the row group.
template <typename List, typename RowType, typename... Also>
class RowTable {
 public:
  using Row = RowType;
  RowTable();
  void add(const Row& row, const Also&... also);
  ParquetTable& parquet() { return table_; }
  Status open_in(const std::string& tables_folder) { return table_.open_in(tables_folder); }
  // Writes the buffered rows if they fill a row group.
  Status end_full_group() { return table_.full() ? table_.end_row_group() : Status(); }
  Status close() {
    if (auto closed = table_.close(); !closed) return tl::make_unexpected(closed.error());
    return {};
  }

 private:
  ParquetTable table_;
  std::vector<Column*> columns_;  // in the order of the list
};

using TableVisit = std::function<Status(ParquetTable&)>;

// Calls `visit` with an empty table of each type, its columns declared. Stops at the first error.
template <typename... Tables>
Status visit_empty(const TableVisit& visit) {
  Status visited;
  static_cast<void>(((visited = visit(Tables().parquet())).has_value() && ...));
  return visited;
}

}  // namespace mlrun::tables
