// SPDX-License-Identifier: Apache-2.0
// Columns of a ParquetTable: collect one value per row and return them numbered or as an Arrow array at the end of a
// row group.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runner/parquet/column_values.h"
#include "runner/parquet/value_numbers.h"

namespace arrow {
class Array;
class DataType;
}  // namespace arrow

namespace mlrun::tables {

enum class Encoding : uint8_t {
  kDictionary,  // few distinct values in a row group
  kDelta,       // sorted, or close to the previous value
  kSplit,       // unordered numbers: plain, or byte-stream split of reals
  kSame,        // one value or none per row group: neither dictionary nor compression pays off
};

// Whether a column may have nulls. Columns without nulls are smaller and faster to write.
enum class Presence : uint8_t { kAlways, kSometimes };

// The values of a row group as dictionary indexes.
struct NumberedValues {
  std::string dictionary;             // distinct values in Parquet's plain encoding
  uint32_t entries = 0;               // 0: no row has a value
  std::span<const uint32_t> numbers;  // indexes of rows that have a value; undefined with a single entry
  std::string min, max;               // plain encoding; empty: no statistics
};

class Column {
 public:
  Column(std::string name, Encoding encoding, Presence presence)
      : name_(std::move(name)), encoding_(encoding), presence_(presence) {}
  virtual ~Column() = default;
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Encoding encoding() const { return encoding_; }
  [[nodiscard]] Presence presence() const { return presence_; }
  [[nodiscard]] virtual std::shared_ptr<arrow::DataType> type() const = 0;
  [[nodiscard]] virtual int64_t size() const = 0;  // kAnySize: as many as the table has rows
  [[nodiscard]] virtual int64_t null_count() const { return 0; }
  // One bit per row, set if it has a value. Requires: there are nulls, and `rows` were added.
  [[nodiscard]] virtual const uint8_t* validity_bits(int64_t /*rows*/) { return nullptr; }
  // Sets `to` to the values as dictionary indexes. Returns false if they do not suit a dictionary. `to` is valid until the next change of the
  // column, or until the next call for another column in the same thread.
  virtual bool number_values(NumberedValues& /*to*/) { return false; }
  // The values added since the last clear(), for use if number_values() returned false. Not copied: valid until the next change. Requires: `rows`
  // were added.
  [[nodiscard]] virtual std::shared_ptr<arrow::Array> array(int64_t rows);
  virtual void clear() = 0;

  static constexpr int64_t kAnySize = -1;

 private:
  std::string name_;
  Encoding encoding_;
  Presence presence_;
};

template <typename T>
class NumberColumn final : public Column {
 public:
  using Column::Column;
  void add(T value) { values_.add(value); }
  // add_null(), add_unless() and add_each_if() require Presence::kSometimes.
  void add_null() { values_.add_null(); }
  // Adds null if `value` equals `none`.
  void add_unless(T none, T value) { value == none ? add_null() : add(value); }
  // Adds `count` rows at once, which is faster: get(i) is the value of row i.
  template <typename Get>
  void add_each(size_t count, Get get) {
    values_.add_each(count, get);
  }
  // Adds `count` rows; row i is null if has(i) is false.
  template <typename Has, typename Get>
  void add_each_if(size_t count, Has has, Get get) {
    values_.add_each_if(count, has, get);
  }

  [[nodiscard]] std::shared_ptr<arrow::DataType> type() const override;
  [[nodiscard]] int64_t size() const override { return static_cast<int64_t>(values_.rows()); }
  [[nodiscard]] int64_t null_count() const override { return static_cast<int64_t>(values_.nulls()); }
  [[nodiscard]] const uint8_t* validity_bits(int64_t rows) override {
    return values_.validity().bits(static_cast<size_t>(rows)).data();
  }
  bool number_values(NumberedValues& to) override;
  [[nodiscard]] std::shared_ptr<arrow::Array> array(int64_t rows) override;
  void clear() override { values_.clear(); }

 private:
  ColumnValues<T> values_;
  ValueNumbers<T> distinct_;
  std::vector<uint32_t> numbers_;
};

using Int64Column = NumberColumn<int64_t>;
using Int32Column = NumberColumn<int32_t>;
using DoubleColumn = NumberColumn<double>;

class BoolColumn final : public Column {
 public:
  explicit BoolColumn(std::string name) : Column(std::move(name), Encoding::kDictionary, Presence::kAlways) {}
  void add(bool value) { values_.push_back(value ? 1 : 0); }
  [[nodiscard]] std::shared_ptr<arrow::DataType> type() const override;
  [[nodiscard]] int64_t size() const override { return static_cast<int64_t>(values_.size()); }
  [[nodiscard]] std::shared_ptr<arrow::Array> array(int64_t rows) override;
  void clear() override { values_.clear(); }

 private:
  std::vector<uint8_t> values_;
};

class TextColumn final : public Column {
 public:
  TextColumn(std::string name, bool utf8, Presence presence)
      : Column(std::move(name), Encoding::kDictionary, presence), utf8_(utf8) {}
  void add(std::string_view value) {
    validity_.add_value(rows());
    bytes_.append(value);
    offsets_.push_back(static_cast<int32_t>(bytes_.size()));
  }
  void add_null() {
    validity_.add_null(rows());
    offsets_.push_back(static_cast<int32_t>(bytes_.size()));
  }
  void add_unless_empty(std::string_view value) { value.empty() ? add_null() : add(value); }

  [[nodiscard]] std::shared_ptr<arrow::DataType> type() const override;
  [[nodiscard]] int64_t size() const override { return static_cast<int64_t>(rows()); }
  [[nodiscard]] int64_t byte_size() const { return static_cast<int64_t>(bytes_.size()); }
  [[nodiscard]] int64_t null_count() const override { return static_cast<int64_t>(validity_.nulls()); }
  [[nodiscard]] const uint8_t* validity_bits(int64_t rows) override {
    return validity_.bits(static_cast<size_t>(rows)).data();
  }
  bool number_values(NumberedValues& to) override;
  [[nodiscard]] std::shared_ptr<arrow::Array> array(int64_t rows) override;
  void clear() override {
    bytes_.clear();
    offsets_.assign(1, 0);
    validity_.clear();
  }

 private:
  [[nodiscard]] size_t rows() const { return offsets_.size() - 1; }

  bool utf8_;
  std::string bytes_;
  std::vector<int32_t> offsets_{0};
  Validity validity_;
};

class LabelColumn final : public Column {
 public:
  LabelColumn(std::string name, std::vector<std::string> names)
      : Column(std::move(name), Encoding::kDictionary, Presence::kAlways), names_(std::move(names)) {}
  // Requires: index < names.
  void add(size_t index) { values_.add(static_cast<int32_t>(index)); }
  template <typename Get>
  void add_each(size_t count, Get get) {
    values_.add_each(count, [&](size_t i) { return static_cast<int32_t>(get(i)); });
  }
  [[nodiscard]] std::shared_ptr<arrow::DataType> type() const override;
  [[nodiscard]] int64_t size() const override { return static_cast<int64_t>(values_.rows()); }
  bool number_values(NumberedValues& to) override;
  void clear() override { values_.clear(); }

 private:
  std::vector<std::string> names_;
  ColumnValues<int32_t> values_;
  std::vector<uint32_t> numbers_, number_of_name_;
};

// Has the same value in all rows of a row group.
class SameColumn final : public Column {
 public:
  explicit SameColumn(std::string name) : Column(std::move(name), Encoding::kSame, Presence::kAlways) {}
  void set(int64_t value) { value_ = value; }
  [[nodiscard]] std::shared_ptr<arrow::DataType> type() const override;
  [[nodiscard]] int64_t size() const override { return kAnySize; }
  bool number_values(NumberedValues& to) override;
  void clear() override {}

 private:
  int64_t value_ = 0;
};

// Has only nulls, for any number of rows.
class EmptyColumn final : public Column {
 public:
  explicit EmptyColumn(std::string name) : Column(std::move(name), Encoding::kSame, Presence::kSometimes) {}
  [[nodiscard]] std::shared_ptr<arrow::DataType> type() const override;
  [[nodiscard]] int64_t size() const override { return kAnySize; }
  bool number_values(NumberedValues& to) override;
  void clear() override {}
};

}  // namespace mlrun::tables
