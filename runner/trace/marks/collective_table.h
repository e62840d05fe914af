// SPDX-License-Identifier: Apache-2.0
// The table of collectives: one file, in order of their ends.
#pragma once

#include <string>
#include <utility>

#include "runner/model/collective.h"
#include "runner/parquet/row_table.h"

namespace mlrun::trace {

struct CollectiveColumns;

class CollectiveTable {
 public:
  // Call before the first row; without it nothing is written.
  void write_to(std::string tables_folder) { folder_ = std::move(tables_folder); }
  Status add(const model::CollectiveRow& row);
  Status close();
  tables::ParquetTable& parquet() { return table_.parquet(); }

 private:
  // Opens the table. Called before its first row.
  Status open();

  std::string folder_;
  bool is_open_ = false;
  tables::RowTable<CollectiveColumns, model::CollectiveRow> table_;
};

}  // namespace mlrun::trace

extern template class mlrun::tables::RowTable<mlrun::trace::CollectiveColumns, mlrun::model::CollectiveRow>;
