// SPDX-License-Identifier: Apache-2.0
// The columns of one table by name: stored ones, and names for ids. Used ones are loaded on demand.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runner/util/result.h"
#include "runner/view/column.h"
#include "runner/view/id_names.h"

namespace arrow {
class Schema;
class RecordBatch;
}  // namespace arrow

namespace mlrun::view {

class TableColumns {
 public:
  TableColumns(std::string trace_folder, std::string table, std::shared_ptr<arrow::Schema> schema);

  // Marks a column as used and returns its index in columns(). The error for an unknown name lists the known ones.
  Result<size_t> use(const std::string& name);
  // Names for ids and the ids, in the table's order.
  [[nodiscard]] std::vector<std::string> known() const;
  // The default columns: names instead of ids; for text output the most useful ones.
  [[nodiscard]] std::vector<std::string> usual(bool for_people) const;

  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  // The stored columns that the used columns need.
  [[nodiscard]] std::vector<std::string> sources() const;
  void bind(const arrow::RecordBatch& batch);

 private:
  [[nodiscard]] bool stored(const std::string& name) const;
  // The name column that replaces an id column in this table; nullptr: none.
  [[nodiscard]] const NamedId* replacement(const std::string& id_column) const;

  std::string table_;
  std::shared_ptr<arrow::Schema> schema_;
  IdNameTables names_;
  std::vector<Column> columns_;
};

}  // namespace mlrun::view
