// SPDX-License-Identifier: Apache-2.0
// Columns of a ParquetTable: vectors that take a value a row and become an Arrow array when the row group ends.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace arrow {
class Array;
class DataType;
}  // namespace arrow

namespace mlrun::trace {

enum class Encoding : uint8_t {
  kDictionary,  // few distinct values in a row group
  kDelta,       // sorted, or near the value before
  kSplit,       // numbers without an order: planes of equal bytes
  kSame,        // one value, or none, in a row group: not worth a dictionary, nor compressing
};

// Whether a column may lack values. One that always has them is smaller and quicker to write.
enum class Presence : uint8_t { kAlways, kSometimes };

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
  [[nodiscard]] virtual int64_t byte_size() const = 0;
  [[nodiscard]] virtual int64_t null_count() const { return 0; }
  // The values added since the last clear(), without copying them: valid until then. Requires: `rows` were added.
  [[nodiscard]] virtual std::shared_ptr<arrow::Array> array(int64_t rows) = 0;
  virtual void clear() = 0;

  static constexpr int64_t kAnySize = -1;

 private:
  std::string name_;
  Encoding encoding_;
  Presence presence_;
};

// Which rows have a value. Bits are kept only where both kinds occur.
class Validity {
 public:
  void add_null(size_t rows_before) {
    if (nulls_ != rows_before) set(rows_before, false);
    ++nulls_;
  }
  void add_value(size_t rows_before) {
    if (nulls_ != 0) set(rows_before, true);
  }
  void clear() {
    bits_.clear();
    nulls_ = 0;
  }
  [[nodiscard]] size_t nulls() const { return nulls_; }
  // One bit a row. Requires: there are nulls.
  const std::vector<uint8_t>& bits(size_t rows) {
    if (bits_.empty()) bits_.assign(rows / 8 + 1, 0);
    return bits_;
  }

 private:
  void set(size_t row, bool valid) {
    // So far all rows were alike.
    if (bits_.empty()) bits_.assign(row / 8 + 1, valid ? 0x00 : 0xff);
    if (row / 8 >= bits_.size()) bits_.push_back(0);
    const auto bit = static_cast<uint8_t>(1u << (row % 8));
    bits_[row / 8] = static_cast<uint8_t>(valid ? bits_[row / 8] | bit : bits_[row / 8] & ~bit);
  }

  std::vector<uint8_t> bits_;
  size_t nulls_ = 0;
};

template <typename T>
class NumberColumn final : public Column {
 public:
  using Column::Column;
  void add(T value) {
    validity_.add_value(values_.size());
    values_.push_back(value);
  }
  // Requires, here and below: Presence::kSometimes.
  void add_null() {
    validity_.add_null(values_.size());
    values_.push_back(T{});
  }
  // Null where the model says "none" by a value of its own.
  void add_unless(T none, T value) { value == none ? add_null() : add(value); }

  [[nodiscard]] std::shared_ptr<arrow::DataType> type() const override;
  [[nodiscard]] int64_t size() const override { return static_cast<int64_t>(values_.size()); }
  [[nodiscard]] int64_t byte_size() const override { return size() * static_cast<int64_t>(sizeof(T)); }
  [[nodiscard]] int64_t null_count() const override { return static_cast<int64_t>(validity_.nulls()); }
  [[nodiscard]] std::shared_ptr<arrow::Array> array(int64_t rows) override;
  void clear() override {
    values_.clear();
    validity_.clear();
  }

 private:
  std::vector<T> values_;
  Validity validity_;
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
  [[nodiscard]] int64_t byte_size() const override { return size(); }
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
  [[nodiscard]] int64_t byte_size() const override { return static_cast<int64_t>(bytes_.size()); }
  [[nodiscard]] int64_t null_count() const override { return static_cast<int64_t>(validity_.nulls()); }
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
  void add(size_t index) { values_.push_back(static_cast<int32_t>(index)); }
  [[nodiscard]] std::shared_ptr<arrow::DataType> type() const override;
  [[nodiscard]] int64_t size() const override { return static_cast<int64_t>(values_.size()); }
  [[nodiscard]] int64_t byte_size() const override { return size() * 4; }
  [[nodiscard]] std::shared_ptr<arrow::Array> array(int64_t rows) override;
  void clear() override { values_.clear(); }

 private:
  std::vector<std::string> names_;
  std::vector<int32_t> values_;
};

// One value in all rows of a row group.
class SameColumn final : public Column {
 public:
  explicit SameColumn(std::string name) : Column(std::move(name), Encoding::kSame, Presence::kAlways) {}
  void set(int64_t value) { value_ = value; }
  [[nodiscard]] std::shared_ptr<arrow::DataType> type() const override;
  [[nodiscard]] int64_t size() const override { return kAnySize; }
  [[nodiscard]] int64_t byte_size() const override { return 0; }
  [[nodiscard]] std::shared_ptr<arrow::Array> array(int64_t rows) override;
  void clear() override {}

 private:
  int64_t value_ = 0;
  std::vector<int64_t> values_;
};

// Nothing but nulls, however many rows there are.
class EmptyColumn final : public Column {
 public:
  explicit EmptyColumn(std::string name) : Column(std::move(name), Encoding::kSame, Presence::kSometimes) {}
  [[nodiscard]] std::shared_ptr<arrow::DataType> type() const override;
  [[nodiscard]] int64_t size() const override { return kAnySize; }
  [[nodiscard]] int64_t byte_size() const override { return 0; }
  [[nodiscard]] std::shared_ptr<arrow::Array> array(int64_t rows) override;
  void clear() override {}
};

}  // namespace mlrun::trace
