// SPDX-License-Identifier: Apache-2.0
// All rows of a table in the order in which they are stored: for tables that define ids.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "runner/exchange/export.h"
#include "runner/exchange/values.h"
#include "runner/util/result.h"

namespace mlrun::exchange {

// One row: its values by their place in the list of columns.
class Row {
 public:
  Row(const std::vector<Values>& fields, int64_t row) : fields_(fields), row_(row) {}
  [[nodiscard]] const Values& values(size_t column) const { return fields_[column]; }
  [[nodiscard]] bool is_null(size_t column) const { return fields_[column].is_null(row_); }
  [[nodiscard]] int64_t number(size_t column) const { return fields_[column].number(row_); }
  [[nodiscard]] std::string_view text(size_t column) const { return fields_[column].text(row_); }
  [[nodiscard]] int64_t row() const { return row_; }

 private:
  const std::vector<Values>& fields_;
  int64_t row_;
};

// Calls visit() for each row; returns their number. A table that the trace lacks has no rows, a column that it lacks has only nulls.
Result<int64_t> each_row(Export& job, const std::string& table, const std::vector<std::string>& columns,
                         const std::function<void(const Row&)>& visit);

// Names of the columns of a table; none if the trace lacks it.
Result<std::vector<std::string>> columns_of(Export& job, const std::string& table);

// Number of rows of a table, by its files' footers; 0 if the trace lacks it.
Result<int64_t> rows_in(Export& job, const std::string& table);

// Counts all rows of the tables that are not in `handled` as left out.
Status leave_out_others(Export& job, const std::set<std::string>& handled, const std::string& reason);

inline constexpr const char* kNotWanted = "outside of --from, --until and --process";

}  // namespace mlrun::exchange
