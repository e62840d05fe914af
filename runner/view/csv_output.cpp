// SPDX-License-Identifier: Apache-2.0
// CSV as in RFC 4180, with LF: a header of names, empty fields for nulls, times in nanoseconds. Invalid UTF-8 becomes
// \xNN. Spreadsheets execute a text that begins with =, +, -, @, a tab or a carriage return as a formula: such a text
// gets a leading apostrophe, and so does one that begins with an apostrophe, so that removing one apostrophe restores
// each.
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "runner/view/row_output.h"

namespace mlrun::view {
namespace {

bool needs_quotes(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c == ',' || c == '"' || c == '\r' || c == '\n'; });
}

void add_field(std::string& line, std::string_view text) {
  if (!needs_quotes(text)) {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text) {
    if (c == '"') line += '"';
    line += c;
  }
  line += '"';
}

bool may_be_formula(std::string_view text) {
  return !text.empty() && std::string_view("=+-@\t\r'").find(text.front()) != std::string_view::npos;
}

class CsvOutput final : public RowOutput {
 public:
  CsvOutput(const std::vector<std::string>& names, int64_t origin_ns, bool keeps_formulas, Sink sink)
      : origin_ns_(origin_ns), keeps_formulas_(keeps_formulas), sink_(std::move(sink)) {
    for (const std::string& name : names) {
      if (!line_.empty()) line_ += ',';
      add_field(line_, name);
    }
    line_ += '\n';
    sink_(line_);
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
      case Column::Type::kText: add_text(column.utf8(row)); break;
    }
  }

  void add_text(const std::string& text) {
    add_field(line_, !keeps_formulas_ && may_be_formula(text) ? "'" + text : text);
  }

  int64_t origin_ns_;
  bool keeps_formulas_;
  Sink sink_;
  std::string line_;
};

}  // namespace

std::unique_ptr<RowOutput> csv_output(const std::vector<std::string>& names, int64_t origin_ns, bool keeps_formulas,
                                      Sink sink) {
  return std::make_unique<CsvOutput>(names, origin_ns, keeps_formulas, std::move(sink));
}

}  // namespace mlrun::view
