// SPDX-License-Identifier: Apache-2.0
// Reads a table into a vector of rows that have Columns<Row>. A missing column, or one of another type, is an error
// that names it. A null leaves the field at its default, and so does a column that older tables lack (later); ignores
// unknown columns.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runner/summary/summary.h"
#include "runner/summary/tables/columns.h"
#include "runner/util/result.h"

namespace arrow {
class Array;
class RecordBatch;
}  // namespace arrow

namespace mlrun::summary {

class RowReader {
 public:
  // Visitor interface: fills the fields of the current row.
  void operator()(const std::string& name, int64_t& value);
  void operator()(const std::string& name, int32_t& value) { value = int32_t(number(name, value)); }
  void operator()(const std::string& name, uint16_t& value) { value = uint16_t(number(name, value)); }
  void operator()(const std::string& name, std::string& value);
  void operator()(const std::string& name, Group& value);
  void operator()(const std::string& name, Direction& value);
  void operator()(const std::string& name, SiteKind& value);
  void operator()(const std::string& name, Activity& value);
  void operator()(const std::string& name, State& value);
  template <typename Value>
  void later(const std::string& name, Value& value) {
    if (has(name)) (*this)(name, value);
  }

  // A column that older tables lack; null represents `none`, the row's default.
  template <typename Value>
  void later_optional(const std::string& name, Value& value, int /*none*/) {
    later(name, value);
  }
  void later_optional(const std::string& name, std::string& value) { later(name, value); }

  template <typename Row>
  static Result<std::vector<Row>> read(const std::string& trace_folder) {
    RowReader reader(trace_folder, Columns<Row>::kTable);
    std::vector<Row> rows;
    if (auto loaded = reader.load(); !loaded) return tl::make_unexpected(loaded.error());
    while (reader.next_row()) Columns<Row>::visit(reader, rows.emplace_back());
    if (!reader.problem_.empty()) return fail(reader.problem_);
    return rows;
  }

 private:
  RowReader(std::string trace_folder, std::string table)
      : trace_folder_(std::move(trace_folder)), table_(std::move(table)) {}

  Status load();
  bool next_row();  // False: end, or an error
  [[nodiscard]] bool has(const std::string& name) const;
  // nullptr: the cell is null, or the column is missing, which is an error.
  std::shared_ptr<arrow::Array> cell(const std::string& name);
  int64_t number(const std::string& name, int64_t otherwise);
  void wrong(const std::string& name, const std::string& what);

  std::string trace_folder_, table_;
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches_;
  size_t batch_ = 0;
  int64_t row_ = -1;
  std::string problem_;
};

}  // namespace mlrun::summary
