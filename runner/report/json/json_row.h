// SPDX-License-Identifier: Apache-2.0
// Rows of the summary as JSON objects, from the lists of columns that also make their tables (summary/tables/columns.h).
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

#include "runner/report/json/json_values.h"
#include "runner/summary/tables/columns.h"

namespace mlrun::report {

// A visitor of a list of columns. Members with an empty name are left out.
class JsonRow {
 public:
  template <typename Value>
  void operator()(const std::string& name, const Value& value) {
    if (name.empty()) return;
    if constexpr (std::is_enum_v<Value>) {
      json[name] = column_text(value);
    } else if constexpr (requires { value.has_value(); }) {
      json[name] = report::known(value);
    } else {
      json[name] = value;
    }
  }
  void later(const std::string& name, const auto& value) { (*this)(name, value); }
  void later_optional(const std::string& name, const auto& value, int none = 0) { known(name, value, none); }

  // Writes null for `none` or an empty text.
  template <typename Value>
  void known(const std::string& name, const Value& value, int none = 0) {
    if constexpr (std::is_integral_v<Value>) {
      (*this)(name, value == none ? std::nullopt : std::optional<Value>(value));
    } else {
      (*this)(name, value.empty() ? std::nullopt : std::optional<Value>(value));
    }
  }

  void rows(const std::string& name, const auto& rows);

  nlohmann::ordered_json json;
};

template <typename Row>
nlohmann::ordered_json row_json(const Row& row) {
  JsonRow visitor;
  summary::Columns<Row>::visit(visitor, row);
  return std::move(visitor.json);
}

template <typename Rows>
nlohmann::ordered_json rows_json(const Rows& rows) {
  return array(rows, [](const auto& row) { return row_json(row); });
}

void JsonRow::rows(const std::string& name, const auto& rows) { json[name] = rows_json(rows); }

}  // namespace mlrun::report
