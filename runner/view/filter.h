// SPDX-License-Identifier: Apache-2.0
// --where on the columns of a table. A null value matches only `!= VALUE` and `= null`.
//
// Numbers take units: a time ns, us, ms, s, min, h or d; anything else K, M, G, T (powers of 1024). Without a unit a moment
// is in seconds from the start of the run (nanoseconds when absolute), a duration in nanoseconds. `err` takes ENOENT
// and the like.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/parquet/table_reader.h"
#include "runner/util/result.h"
#include "runner/view/table_columns.h"
#include "runner/view/where.h"

namespace mlrun::view {

class Filter {
 public:
  // origin_ns: the time from which moments count; 0: absolute. Marks the columns as used.
  static Result<Filter> make(const std::vector<Comparison>& comparisons, int64_t origin_ns, TableColumns& columns);

  [[nodiscard]] bool empty() const { return tests_.empty(); }
  // Requires: the columns are bound.
  [[nodiscard]] bool matches(const TableColumns& columns, int64_t row) const;
  // Applies conditions on `ts` to the query, so that excluded row groups are not read.
  void narrow(tables::TableQuery& query) const;

 private:
  struct Test {
    size_t column = 0;
    std::string name;
    Operator op = Operator::kEqual;
    bool null = false;
    int64_t number = 0;
    double real = 0;
    bool boolean = false;
    std::string text;
    mutable std::vector<int8_t> by_id;  // for a column of names, by id: 1 passes, -1 does not, 0 not evaluated yet
  };

  static Result<Test> make_test(const Comparison& comparison, int64_t origin_ns, const Column& column);
  static bool passes(const Test& test, const Column& column, int64_t row);
  static bool passes_by_id(const Test& test, const Column& column, int64_t row);

  std::vector<Test> tests_;
};

}  // namespace mlrun::view
