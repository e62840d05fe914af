// SPDX-License-Identifier: Apache-2.0
// Rows of the summary as JSON objects, by the same list of columns that makes their tables (table_rows.h).
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

#include "runner/report/json/json_values.h"
#include "runner/summary/tables/table_rows.h"

namespace mlrun::summary {

// The visitor of a list of columns.
class JsonRow {
 public:
  template <typename Value>
  void operator()(const std::string& name, const Value& value) {
    if constexpr (std::is_enum_v<Value>) {
      json[name] = column_text(value);
    } else {
      json[name] = value;
    }
  }
  void later(const std::string& name, const auto& value) { (*this)(name, value); }

  // null for `none`, or an empty text.
  template <typename Value>
  void known(const std::string& name, const Value& value, int none = 0) {
    if constexpr (std::is_integral_v<Value>) {
      json[name] = summary::known(value, none);
    } else {
      json[name] = value.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
    }
  }

  nlohmann::ordered_json json;
};

template <typename Row>
nlohmann::ordered_json row_json(const Row& row) {
  JsonRow visitor;
  Columns<Row>::visit(visitor, row);
  return std::move(visitor.json);
}

template <typename Rows>
nlohmann::ordered_json rows_json(const Rows& rows) {
  return array(rows, [](const auto& row) { return row_json(row); });
}

}  // namespace mlrun::summary
