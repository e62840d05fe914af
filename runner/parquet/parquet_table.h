// SPDX-License-Identifier: Apache-2.0
// Writes one Parquet file after another of one table: declare the columns once, then for each file open(), add one
// value to every column for every row, end_row_group() when full(), close(). The file stands under its name only when
// close() succeeded.
//
//   ParquetTable table("mark");
//   auto& ts = table.int64("ts", Encoding::kDelta);
//   auto& name = table.text("name");
//   table.open(path);  ts.add(1); name.add("epoch");  table.row_added();  table.close();
//
// Values stand in plain vectors until the row group ends; a value costs about a nanosecond to add. Not thread safe;
// several tables may be written at once.
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

namespace mlrun::trace {

inline constexpr int kTraceSchemaVersion = 1;  // of all tables; in run.json and in each file's metadata
inline constexpr int64_t kRowGroupRows = 128 * 1024;
inline constexpr int64_t kRowGroupTextBytes = int64_t{32} << 20;  // before encoding; numbers are bounded by the rows

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
  // The same, with nulls.
  Int64Column& optional_int64(std::string name, Encoding encoding = Encoding::kDictionary) {
    return int64(std::move(name), encoding, Presence::kSometimes);
  }
  Int32Column& optional_int32(std::string name) {
    return int32(std::move(name), Encoding::kDictionary, Presence::kSometimes);
  }
  DoubleColumn& real(std::string name);
  BoolColumn& boolean(std::string name);
  TextColumn& text(std::string name, Presence presence = Presence::kAlways);  // valid UTF-8 (util/text.h)
  TextColumn& optional_text(std::string name) { return text(std::move(name), Presence::kSometimes); }
  TextColumn& optional_bytes(std::string name);  // BINARY
  // A text column whose values are few and known: add() takes the index into `names`.
  LabelColumn& label(std::string name, std::vector<std::string> names);
  SameColumn& same_int64(std::string name);
  // Without values: what another stream will fill. Always null.
  void empty_int64(std::string name);

  // Starts a file. Requires: no column is declared later.
  Status open(const std::string& path);
  // The same for the only file of a table: makes the table's folder below `tables_folder`, and starts the file there.
  Status open_in(const std::string& tables_folder);
  // Call after each row: all columns have one value more.
  void row_added() { ++rows_; }
  void rows_added(size_t count) { rows_ += static_cast<int64_t>(count); }
  // Has as many rows as a row group should, or as many bytes of texts. Cheap: to be asked after each row with texts.
  [[nodiscard]] bool full() const;
  // Writes what was added since the last time. No-op without rows.
  Status end_row_group();
  // Ends the last row group, writes the footer, puts the file under its name. Returns its size in bytes.
  Result<int64_t> close();

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::shared_ptr<arrow::Schema> schema() const;  // of the columns declared so far

 private:
  struct File;
  template <typename T>
  T& add_column(std::unique_ptr<T> column);
  TextColumn& add_text(std::string name, bool utf8, Presence presence);
  // What Arrow throws meanwhile, as an error about the file.
  Status guarded(const std::function<void()>& write);

  std::string name_;
  std::vector<std::unique_ptr<Column>> columns_;
  std::vector<const TextColumn*> texts_;  // those of them
  std::unique_ptr<File> file_;
  int64_t rows_ = 0;
};

}  // namespace mlrun::trace
