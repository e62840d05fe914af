// SPDX-License-Identifier: Apache-2.0
// Writes a vector of rows that have Columns<Row> as one Parquet file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <variant>
#include <vector>

#include "runner/summary/table_rows.h"
#include "runner/trace/parquet_table.h"
#include "runner/util/result.h"

namespace mlrun::summary {

class RowWriter {
 public:
  explicit RowWriter(const char* table) : table_(table) {}

  // As a visitor: declares the columns while it is shown an example, then takes values.
  void operator()(const std::string& name, const int64_t& value) { number<trace::Int64Column>(name, value); }
  void operator()(const std::string& name, const int32_t& value) { number<trace::Int32Column>(name, value); }
  void operator()(const std::string& name, const uint16_t& value) { number<trace::Int32Column>(name, value); }
  void operator()(const std::string& name, const Group& value) { (*this)(name, group_name(value)); }
  void operator()(const std::string& name, const Direction& value) { (*this)(name, direction_name(value)); }
  void operator()(const std::string& name, const std::string& value) {
    if (declaring_) {
      columns_.emplace_back(&table_.text(name));
    } else {
      std::get<trace::TextColumn*>(columns_[at_++])->add(value);
    }
  }

  template <typename Row>
  static Status write(const std::vector<Row>& rows, const std::string& trace_folder) {
    const std::filesystem::path folder = std::filesystem::path(trace_folder) / "tables" / Columns<Row>::kTable;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) return fail("cannot create " + folder.string() + ": " + error.message());

    RowWriter writer(Columns<Row>::kTable);
    const Row example{};
    Columns<Row>::visit(writer, example);
    writer.declaring_ = false;
    if (auto opened = writer.table_.open((folder / "part-00000.parquet").string()); !opened) return opened;
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
  template <typename Column, typename Number>
  void number(const std::string& name, Number value) {
    if (!declaring_) return std::get<Column*>(columns_[at_++])->add(value);
    if constexpr (std::is_same_v<Column, trace::Int64Column>) {
      columns_.emplace_back(&table_.int64(name));
    } else {
      columns_.emplace_back(&table_.int32(name));
    }
  }

  trace::ParquetTable table_;
  std::vector<std::variant<trace::Int64Column*, trace::Int32Column*, trace::TextColumn*>> columns_;
  bool declaring_ = true;
  size_t at_ = 0;
};

}  // namespace mlrun::summary
