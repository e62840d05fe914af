// SPDX-License-Identifier: Apache-2.0
// Writes rows, which arrive nearly in order of their end times, in that order. Rows wait in a window; when it is full, its
// half with the earlier ends is written as a row group. Rows of a row group are sorted by start, as in all event tables.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "runner/parquet/parquet_table.h"
#include "runner/trace/rows/origin_columns.h"
#include "runner/util/result.h"

namespace mlrun::trace {

template <typename Table>
class OrderedTable {
 public:
  using Row = typename Table::Row;

  // Creates the table's folder below `tables_folder`, and its only file.
  Status open(const std::string& tables_folder) { return table_.parquet().open_in(tables_folder); }

  Status add(Row row) {
    rows_.push_back(std::move(row));
    ++count_;
    if (rows_.size() < 2 * tables::kRowGroupRows) return {};
    sort(rows_.size());
    return write(tables::kRowGroupRows);
  }

  Status close() {
    sort(rows_.size());
    while (!rows_.empty()) {
      const auto rows = std::min<size_t>(rows_.size(), tables::kRowGroupRows);
      if (Status written = write(rows); !written) return written;
    }
    if (auto closed = table_.parquet().close(); !closed) return tl::make_unexpected(closed.error());
    return {};
  }

  [[nodiscard]] int64_t count() const { return count_; }

 private:
  void sort(size_t rows) {
    std::stable_sort(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(rows),
                     [](const Row& a, const Row& b) { return a.end_ns < b.end_ns; });
  }

  // Writes the first `rows` rows as a row group. Requires: they are in order of their ends.
  Status write(size_t rows) {
    const auto last = rows_.begin() + static_cast<std::ptrdiff_t>(rows);
    const GroupEnds ends{rows_.front().end_ns, (last - 1)->end_ns};
    std::stable_sort(rows_.begin(), last, [](const Row& a, const Row& b) { return a.ts_ns < b.ts_ns; });
    for (auto row = rows_.begin(); row != last; ++row) table_.add(*row, ends);
    rows_.erase(rows_.begin(), last);
    return table_.parquet().end_row_group();
  }

  Table table_;
  std::vector<Row> rows_;
  int64_t count_ = 0;
};

}  // namespace mlrun::trace
