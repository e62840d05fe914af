// SPDX-License-Identifier: Apache-2.0
// Writes rows that have Columns<Row> as one Parquet file of a trace.
#pragma once

#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "runner/parquet/parquet_table.h"
#include "runner/summary/tables/table_rows.h"
#include "runner/util/result.h"

namespace mlrun::summary {

class RowWriter {
 public:
  explicit RowWriter(const char* table) : table_(table) {}

  // Visitor interface: declares the columns from an example row, then takes values.
  void operator()(const std::string& name, const int64_t& value) {
    next<trace::Int64Column>([&] { return &table_.int64(name); }).add(value);
  }
  void operator()(const std::string& name, const int32_t& value) {
    next<trace::Int32Column>([&] { return &table_.int32(name); }).add(value);
  }
  void operator()(const std::string& name, const uint16_t& value) { (*this)(name, int32_t{value}); }
  void operator()(const std::string& name, const bool& value) {
    next<trace::BoolColumn>([&] { return &table_.boolean(name); }).add(value);
  }
  void operator()(const std::string& name, const Group& value) { (*this)(name, group_name(value)); }
  void operator()(const std::string& name, const Direction& value) { (*this)(name, direction_name(value)); }
  void operator()(const std::string& name, const SiteKind& value) { (*this)(name, site_kind_name(value)); }
  void operator()(const std::string& name, const std::string& value) {
    next<trace::TextColumn>([&] { return &table_.text(name); }).add(value);
  }
  // A column that older tables lack.
  template <typename Value>
  void later(const std::string& name, const Value& value) {
    (*this)(name, value);
  }
  template <typename Value>
  void later_optional(const std::string& name, const Value& value, int none) {
    optional(name, value, none);
  }
  void later_optional(const std::string& name, const std::string& value) { optional(name, value); }
  // Numbers close to the previous row's.
  void ascending(const std::string& name, const int64_t& value) {
    next<trace::Int64Column>([&] { return &table_.int64(name, trace::Encoding::kDelta); }).add(value);
  }
  // Columns with nulls: for a number equal to `none`, or an empty text.
  void optional(const std::string& name, const int64_t& value, int none) {
    next<trace::Int64Column>([&] { return &table_.optional_int64(name); }).add_unless(none, value);
  }
  void optional(const std::string& name, const int32_t& value, int none) {
    next<trace::Int32Column>([&] { return &table_.optional_int32(name); }).add_unless(none, value);
  }
  void optional(const std::string& name, const std::string& value) {
    next<trace::TextColumn>([&] { return &table_.optional_text(name); }).add_unless_empty(value);
  }
  void optional_bytes(const std::string& name, const std::string& value) {
    next<trace::TextColumn>([&] { return &table_.optional_bytes(name); }).add_unless_empty(value);
  }

  // Any range of rows.
  template <typename Rows>
  static Status write(const Rows& rows, const std::string& trace_folder) {
    using Row = std::decay_t<decltype(*std::begin(rows))>;
    RowWriter writer(Columns<Row>::kTable);
    writer.declare<Row>();
    if (auto opened = writer.table_.open_in(trace_folder + "/tables"); !opened) return opened;
    for (const Row& row : rows) {
      writer.at_ = 0;
      Columns<Row>::visit(writer, row);
      writer.table_.row_added();
      if (!writer.table_.full()) continue;
      if (auto ended = writer.table_.end_row_group(); !ended) return ended;
    }
    if (auto closed = writer.table_.close(); !closed) return tl::make_unexpected(closed.error());
    return {};
  }

 private:
  using AnyColumn = std::variant<trace::Int64Column*, trace::Int32Column*, trace::TextColumn*, trace::BoolColumn*>;

  // The example's values are added like a row's, and removed again.
  template <typename Row>
  void declare() {
    const Row example{};
    declaring_ = true;
    Columns<Row>::visit(*this, example);
    declaring_ = false;
    for (const AnyColumn& column : columns_) std::visit([](auto* declared) { declared->clear(); }, column);
  }

  // The next column. `make` declares it.
  template <typename Column, typename Make>
  Column& next(Make make) {
    if (declaring_) columns_.emplace_back(make());
    return *std::get<Column*>(declaring_ ? columns_.back() : columns_[at_++]);
  }

  trace::ParquetTable table_;
  std::vector<AnyColumn> columns_;
  bool declaring_ = false;
  size_t at_ = 0;
};

}  // namespace mlrun::summary
