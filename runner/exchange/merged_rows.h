// SPDX-License-Identifier: Apache-2.0
// The rows of several tables in the order of their begin; of equal begins the longer first, then in the order of the tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runner/exchange/ordered_rows.h"
#include "runner/util/result.h"

namespace mlrun::exchange {

class MergedRows {
 public:
  // A table whose rows enclose rows of another table comes before it: calls before the kernel's operations in them.
  explicit MergedRows(std::vector<OrderedRows> tables) : tables_(std::move(tables)) {}

  // The table that has the next row, as its current row; nullptr: no row is left. Valid until the next call.
  Result<OrderedRows*> next();
  // Number of the table that next() returned, in the order of the constructor.
  [[nodiscard]] size_t number() const { return current_; }
  [[nodiscard]] const std::vector<OrderedRows>& tables() const { return tables_; }

 private:
  struct Head {
    int64_t ts, end;
    size_t table;
  };
  static bool is_later(const Head& a, const Head& b) {
    if (a.ts != b.ts) return a.ts > b.ts;
    return a.end != b.end ? a.end < b.end : a.table > b.table;
  }
  Status push(size_t table);

  std::vector<OrderedRows> tables_;
  std::vector<Head> heap_;
  size_t current_ = SIZE_MAX;
  bool started_ = false;
};

}  // namespace mlrun::exchange
