// SPDX-License-Identifier: Apache-2.0
// The visitor of a list of columns (row_table.h): declares the columns, then adds the values of each row. The type of a
// value gives that of its column: int64_t and unsigned numbers from 32 bits on are INT64, real numbers DOUBLE in kSplit,
// other numbers INT32; an enumeration is the text that column_text() returns for it.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "runner/parquet/row_table.h"

namespace mlrun::tables {

using enum Encoding;  // the lists name encodings

// `value` is computed even if has_value is false.
template <typename Value>
std::optional<Value> value_if(bool has_value, Value value) {
  return has_value ? std::optional<Value>(value) : std::nullopt;
}

// With kDeclares, declares each column before it takes its value.
template <bool kDeclares>
class RowVisitor {
 public:
  RowVisitor(ParquetTable& table, std::vector<Column*>& columns) : table_(table), columns_(columns) {}

  template <typename Value>
  void operator()(std::string_view name, const Value& value, Encoding encoding = kDictionary) {
    if constexpr (std::is_same_v<Value, bool>) {
      next<BoolColumn>([&] { return &table_.boolean(std::string(name)); }).add(value);
    } else if constexpr (std::is_enum_v<Value>) {
      (*this)(name, column_text(value));
    } else if constexpr (std::is_arithmetic_v<Value>) {
      number<Value>(name, encoding, Presence::kAlways).add(static_cast<NumberOf<Value>>(value));
    } else {
      text(name, Presence::kAlways).add(value);
    }
  }

  // Columns that may be null: a number equal to `none`, an empty text, or an empty optional is null.
  template <typename Value>
  requires std::is_integral_v<Value>
  void optional(std::string_view name, Value value, std::type_identity_t<Value> none, Encoding encoding = kDictionary) {
    using Number = NumberOf<Value>;
    auto& column = number<Value>(name, encoding, Presence::kSometimes);
    column.add_unless(static_cast<Number>(none), static_cast<Number>(value));
  }
  template <typename Value>
  void optional(std::string_view name, const std::optional<Value>& value, Encoding encoding = kDictionary) {
    if constexpr (std::is_arithmetic_v<Value>) {
      auto& column = number<Value>(name, encoding, Presence::kSometimes);
      value ? column.add(static_cast<NumberOf<Value>>(*value)) : column.add_null();
    } else {
      TextColumn& column = text(name, Presence::kSometimes);
      value ? column.add(*value) : column.add_null();
    }
  }
  template <typename Struct, typename Value>
  void optional(std::string_view name, const std::optional<Struct>& from, Value Struct::*field,
                Encoding encoding = kDictionary) {
    optional(name, from ? std::optional<Value>((*from).*field) : std::nullopt, encoding);
  }
  void optional(std::string_view name, std::string_view value) {
    text(name, Presence::kSometimes).add_unless_empty(value);
  }
  void optional_bytes(std::string_view name, std::string_view value) {
    next<TextColumn>([&] { return &table_.optional_bytes(std::string(name)); }).add_unless_empty(value);
  }

  // A column with one of a fixed list of texts.
  template <typename Index>
  void label(std::string_view name, Index index, const auto& texts) {
    next<LabelColumn>([&] {
      return &table_.label(std::string(name), std::vector<std::string>(std::begin(texts), std::end(texts)));
    }).add(static_cast<size_t>(index));
  }
  // A column with the same value in all rows of a row group.
  void same(std::string_view name, int64_t value) {
    next<SameColumn>([&] { return &table_.same_int64(std::string(name)); }).set(value);
  }

  // A column that older tables lack. A writer treats it like any other column.
  void later(std::string_view name, const auto& value) { (*this)(name, value); }
  void later_optional(std::string_view name, const auto&... value) { optional(name, value...); }

 private:
  template <typename Value>
  using IntegerOf =
      std::conditional_t<(sizeof(Value) < sizeof(int32_t)) || std::is_same_v<Value, int32_t>, int32_t, int64_t>;
  template <typename Value>
  using NumberOf = std::conditional_t<std::is_floating_point_v<Value>, double, IntegerOf<Value>>;

  template <typename Value>
  auto& number(std::string_view name, Encoding encoding, Presence presence) {
    return next<NumberColumn<NumberOf<Value>>>([&] {
      if constexpr (std::is_floating_point_v<Value>) {
        return &table_.real(std::string(name), presence);
      } else if constexpr (std::is_same_v<NumberOf<Value>, int32_t>) {
        return &table_.int32(std::string(name), encoding, presence);
      } else {
        return &table_.int64(std::string(name), encoding, presence);
      }
    });
  }
  TextColumn& text(std::string_view name, Presence presence) {
    return next<TextColumn>([&] { return &table_.text(std::string(name), presence); });
  }

  // The next column of the list. `make` declares it.
  template <typename Type>
  Type& next(auto make) {
    if constexpr (kDeclares) {
      columns_.push_back(make());
      return static_cast<Type&>(*columns_.back());
    } else {
      return static_cast<Type&>(**next_++);
    }
  }

  ParquetTable& table_;
  std::vector<Column*>& columns_;
  // The next column to which a value is added; unused while columns are declared.
  Column* const* next_ = columns_.data();
};

// Declares the columns of which visit(visitor) adds an example row, and removes the values again.
std::vector<Column*> declared_columns(ParquetTable& table, auto visit) {
  std::vector<Column*> columns;
  RowVisitor<true> visitor(table, columns);
  visit(visitor);
  for (Column* column : columns) column->clear();
  return columns;
}

template <typename List, typename Row, typename... Also>
RowTable<List, Row, Also...>::RowTable()
    : table_(List::kTable), columns_(declared_columns(table_, [](auto& visitor) {
        const Row example{};
        List::visit(visitor, example, Also{}...);
      })) {}

template <typename List, typename Row, typename... Also>
void RowTable<List, Row, Also...>::add(const Row& row, const Also&... also) {
  RowVisitor<false> visitor(table_, columns_);
  List::visit(visitor, row, also...);
  table_.row_added();
}

// Writes a table with one file: `rows` is any range of rows.
template <typename List, typename... Also>
Status write_rows(const auto& rows, const std::string& trace_folder, const Also&... also) {
  RowTable<List, std::decay_t<decltype(*std::begin(rows))>, Also...> table;
  if (Status opened = table.open_in(trace_folder + "/tables"); !opened) return opened;
  for (const auto& row : rows) {
    table.add(row, also...);
    if (Status ended = table.end_full_group(); !ended) return ended;
  }
  return table.close();
}

}  // namespace mlrun::tables
