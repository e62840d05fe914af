// SPDX-License-Identifier: Apache-2.0
// Writes the table files of one table in sequence: declare the columns once; then for each file open(), add one value
// to every column for every row, end_row_group() when full(), close(). The file gets its final name only if close()
// succeeds.
//
//   ParquetTable table("mark");
//   auto& ts = table.int64("ts", Encoding::kDelta);
//   auto& name = table.text("name");
//   table.open(path);  ts.add(1); name.add("epoch");  table.row_added();  table.close();
//
// Values are buffered in vectors until the row group ends; adding one takes about a nanosecond. Not thread-safe;
// several tables may be written in parallel.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runner/parquet/parquet_column.h"
#include "runner/util/result.h"

namespace arrow {
class Schema;
}  // namespace arrow

namespace mlrun::tables {

inline constexpr std::string_view kMagic = "PAR1";  // every Parquet file begins and ends with it

inline constexpr int kTraceSchemaVersion = 1;  // of all tables; stored in run.json and in each file's metadata
inline constexpr int64_t kRowGroupRows = 128 * 1024;
// Size of the texts before encoding; numbers are limited by the row count.
inline constexpr int64_t kRowGroupTextBytes = int64_t{32} << 20;

class ParquetTable {
 public:
  explicit ParquetTable(std::string name);
  ~ParquetTable();
  ParquetTable(ParquetTable&&) noexcept;
  ParquetTable& operator=(ParquetTable&&) noexcept;

  // Declares the next column. References stay valid as long as the table.
  Int64Column& int64(std::string name, Encoding encoding = Encoding::kDictionary,
                     Presence presence = Presence::kAlways);
  Int32Column& int32(std::string name, Encoding encoding = Encoding::kDictionary,
                     Presence presence = Presence::kAlways);
  // Columns that may have nulls.
  Int64Column& optional_int64(std::string name, Encoding encoding = Encoding::kDictionary) {
    return int64(std::move(name), encoding, Presence::kSometimes);
  }
  Int32Column& optional_int32(std::string name) {
    return int32(std::move(name), Encoding::kDictionary, Presence::kSometimes);
  }
  DoubleColumn& real(std::string name, Presence presence = Presence::kAlways);
  BoolColumn& boolean(std::string name);
  TextColumn& text(std::string name, Presence presence = Presence::kAlways);  // valid UTF-8 (util/text.h)
  TextColumn& optional_bytes(std::string name);                               // BINARY
  // A text column with a fixed set of values: add() takes the index into `names`.
  LabelColumn& label(std::string name, std::vector<std::string> names);
  SameColumn& same_int64(std::string name);
  // A column that is always null here: only another kind of recording fills it.
  void empty_int64(std::string name);

  // Starts a file. Requires: all columns are declared.
  Status open(const std::string& path);
  // Creates the table's folder below `tables_folder` and starts the table's only file there.
  Status open_in(const std::string& tables_folder);
  // Call after each row, when every column has its value.
  void row_added() { ++rows_; }
  void rows_added(size_t count) { rows_ += static_cast<int64_t>(count); }
  // Whether the row group has enough rows or bytes of text. Cheap: call it after each row with texts.
  [[nodiscard]] bool full() const;
  // Writes the buffered rows. No-op without rows.
  Status end_row_group();
  // Ends the last row group, writes the footer, and renames the file to its final name. Returns the file's size in bytes.
  Result<int64_t> close();

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::shared_ptr<arrow::Schema> schema() const;  // has the columns declared so far

 private:
  struct File;
  template <typename T>
  T& add_column(std::unique_ptr<T> column);
  TextColumn& add_text(std::string name, bool utf8, Presence presence);
  // Runs `write` and converts Arrow's exceptions to an error about the file.
  Status guarded(const std::function<void()>& write);

  std::string name_;
  std::vector<std::unique_ptr<Column>> columns_;
  std::vector<const TextColumn*> texts_;  // the text columns among columns_
  std::unique_ptr<File> file_;
  int64_t rows_ = 0;
};

}  // namespace mlrun::tables
