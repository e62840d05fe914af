// SPDX-License-Identifier: Apache-2.0
// One JSON object per line, times in nanoseconds. Invalid UTF-8 becomes \xNN, so that different values stay different.
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/util/text.h"
#include "runner/view/row_output.h"

namespace mlrun::view {
namespace {

// If the text contains characters that control a terminal or break a line (U+2028), all non-ASCII characters are escaped. The JSON value stays the
// same.
std::string json_text(std::string_view text) {
  const bool is_ascii = util::printable(text) != text;
  return nlohmann::json(text).dump(-1, ' ', is_ascii, nlohmann::json::error_handler_t::replace);
}

class JsonOutput final : public RowOutput {
 public:
  JsonOutput(const std::vector<std::string>& names, int64_t origin_ns, Sink sink)
      : origin_ns_(origin_ns), sink_(std::move(sink)) {
    for (const std::string& name : names) keys_.push_back((keys_.empty() ? "{" : ",") + json_text(name) + ":");
  }

  void row(const std::vector<const Column*>& columns, int64_t row) override {
    line_.clear();
    for (size_t i = 0; i < columns.size(); ++i) {
      line_ += keys_[i];
      columns[i]->is_null(row) ? void(line_ += "null") : add(*columns[i], row);
    }
    line_ += "}\n";
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
      case Column::Type::kReal: line_ += nlohmann::json(column.real(row)).dump(); break;
      case Column::Type::kBoolean: line_ += column.boolean(row) ? "true" : "false"; break;
      case Column::Type::kText: line_ += json_text(column.utf8(row)); break;
    }
  }

  int64_t origin_ns_;
  Sink sink_;
  std::vector<std::string> keys_;
  std::string line_;
};

}  // namespace

std::unique_ptr<RowOutput> json_output(const std::vector<std::string>& names, int64_t origin_ns, Sink sink) {
  return std::make_unique<JsonOutput>(names, origin_ns, std::move(sink));
}

}  // namespace mlrun::view
