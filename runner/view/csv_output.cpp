// SPDX-License-Identifier: Apache-2.0
// CSV as RFC 4180 has it, with LF: a head of names, empty fields for what has no value, times in nanoseconds.
#include <string>
#include <utility>

#include <fmt/format.h>

#include "runner/view/row_output.h"

namespace mlrun::view {
namespace {

std::string field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

class CsvOutput final : public RowOutput {
 public:
  CsvOutput(const std::vector<std::string>& names, int64_t origin_ns, Sink sink)
      : origin_ns_(origin_ns), sink_(std::move(sink)) {
    std::string line;
    for (const std::string& name : names) line += (line.empty() ? "" : ",") + field(name);
    sink_(line + "\n");
  }

  void row(const std::vector<const Column*>& columns, int64_t row) override {
    line_.clear();
    for (const Column* column : columns) {
      if (column != columns.front()) line_ += ',';
      if (!column->is_null(row)) add(*column, row);
    }
    line_ += '\n';
    sink_(line_);
  }

  void end() override {}

 private:
  void add(const Column& column, int64_t row) {
    switch (column.type()) {
      case Column::Type::kNumber:
        fmt::format_to(std::back_inserter(line_), "{}",
                       column.number(row) - (column.meaning() == Meaning::kMoment ? origin_ns_ : 0));
        break;
      case Column::Type::kReal: fmt::format_to(std::back_inserter(line_), "{}", column.real(row)); break;
      case Column::Type::kBoolean: line_ += column.boolean(row) ? "true" : "false"; break;
      case Column::Type::kText: line_ += field(column.text(row)); break;
    }
  }

  int64_t origin_ns_;
  Sink sink_;
  std::string line_;
};

}  // namespace

std::unique_ptr<RowOutput> csv_output(std::vector<std::string> names, int64_t origin_ns, Sink sink) {
  return std::make_unique<CsvOutput>(names, origin_ns, std::move(sink));
}

}  // namespace mlrun::view
