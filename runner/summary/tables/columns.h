// SPDX-License-Identifier: Apache-2.0
// How the figures of the summary are listed, once for all that shows them. Columns<Row>::visit() calls a visitor with the name and the
// field of each column in order: one list makes the table (parquet/row_columns.h), reads it back (row_reader.h), and makes the object of
// each row in the JSON (report/json/json_row.h). A column added after the table's first release uses visitor.later(): older traces
// lack it, and can still be reported. Where the JSON differs from the table, the functions below say how.
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

// The name of the column, or that of the member of the JSON object; empty: the JSON lacks it.
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

// A share in parts per million, -1: unknown. JSON has the share itself, the column the name with _ppm.
template <typename Visitor>
void visit_share(Visitor& visitor, const std::string& name, auto& ppm) {
  if constexpr (MakesJson<Visitor>) {
    visitor(name, ppm < 0 ? std::nullopt : std::optional<double>(double(ppm) / 1e6));
  } else {
    visitor(name + "_ppm", ppm);
  }
}

// A member of the JSON object that no column has.
template <typename Visitor>
void visit_shown(Visitor& visitor, const char* member, const auto& value_of) {
  if constexpr (MakesJson<Visitor>) visitor(member, value_of());
}

// Rows that have a table of their own, and are an array in the JSON object.
template <typename Visitor>
void visit_rows(Visitor& visitor, const char* member, const auto& rows) {
  if constexpr (MakesJson<Visitor>) visitor.rows(member, rows);
}

// Columns that are one object within the JSON object.
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

// Members that the JSON object has here, although their columns come later: readers of both may rely on the order.
template <typename Visitor>
void visit_places(Visitor& visitor, std::initializer_list<const char*> members) {
  if constexpr (MakesJson<Visitor>) {
    for (const char* member : members) visitor(member, nullptr);
  }
}

}  // namespace mlrun::summary
