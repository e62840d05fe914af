// SPDX-License-Identifier: Apache-2.0
// The columns of the summary's tables, listed once for all their readers and writers. Columns<Row>::visit() calls a visitor with the name and the
// field of each column in order. One list writes the table (parquet/row_columns.h), reads it back (row_reader.h), and makes the JSON object of each
// row (report/json/json_row.h). A column added after the table's first release uses visitor.later(): older traces lack it and can still be reported.
// The functions below handle what differs between JSON and table.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>

namespace mlrun::summary {

template <typename Row>
struct Columns;

template <typename Visitor>
concept MakesJson = requires(Visitor visitor) {
  visitor.json;
};

// The name of the column, or of the JSON object's member; an empty member: JSON lacks it.
template <typename Visitor>
const char* name_for(const Visitor&, const char* column, const char* member = "") {
  return MakesJson<Visitor> ? member : column;
}

// `none`, or an empty text, means unknown: null in JSON. `is_later`: older traces lack it.
inline void visit_known(auto& visitor, const std::string& name, auto& value, int none = 0, bool is_later = false) {
  if constexpr (requires { visitor.known(name, value, none); }) {
    visitor.known(name, value, none);
  } else {
    is_later ? visitor.later(name, value) : visitor(name, value);
  }
}

// A share in parts per million; -1: unknown. JSON has the share as a number up to 1; the column's name ends in _ppm.
template <typename Visitor>
void visit_share(Visitor& visitor, const std::string& name, auto& ppm) {
  if constexpr (MakesJson<Visitor>) {
    visitor(name, ppm < 0 ? std::nullopt : std::optional<double>(double(ppm) / 1e6));
  } else {
    visitor(name + "_ppm", ppm);
  }
}

// A member of the JSON object without a column.
template <typename Visitor>
void visit_shown(Visitor& visitor, const char* member, const auto& value_of) {
  if constexpr (MakesJson<Visitor>) visitor(member, value_of());
}

// Rows of another table that are an array in the JSON object.
template <typename Visitor>
void visit_rows(Visitor& visitor, const char* member, const auto& rows) {
  if constexpr (MakesJson<Visitor>) visitor.rows(member, rows);
}

// Columns that are combined in one object within the JSON object.
template <typename Visitor>
void visit_object(Visitor& visitor, const char* member, const auto& visit) {
  if constexpr (MakesJson<Visitor>) {
    Visitor object;
    visit(object);
    visitor(member, object.json);
  } else {
    visit(visitor);
  }
}

// Reserves places for members of the JSON object whose columns come later: readers of JSON and of tables may rely on the order.
template <typename Visitor>
void visit_places(Visitor& visitor, std::initializer_list<const char*> members) {
  if constexpr (MakesJson<Visitor>) {
    for (const char* member : members) visitor(member, nullptr);
  }
}

}  // namespace mlrun::summary
