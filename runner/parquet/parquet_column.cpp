// SPDX-License-Identifier: Apache-2.0
#include "runner/parquet/parquet_column.h"

#include <algorithm>
#include <cmath>

#include <arrow/api.h>

#include "runner/parquet/text_numbers.h"

namespace mlrun::tables {

namespace {

// A larger dictionary saves little space and is slow.
constexpr size_t kEntriesMax = 64 * 1024;
constexpr size_t kTextsOfFewMax = size_t{1} << 20, kTextsMax = size_t{4} << 20;  // bytes
constexpr size_t kBoundMax = 4096;  // bytes of a text in statistics, as Arrow has it

// nullptr, Arrow's convention, if there are no nulls.
std::shared_ptr<arrow::Buffer> validity_buffer(Validity& validity, size_t rows) {
  return validity.nulls() == 0 ? nullptr : arrow::Buffer::Wrap(validity.bits(rows));
}

template <typename ArrowType, typename T>
std::shared_ptr<arrow::Array> number_array(ColumnValues<T>& column) {
  return std::make_shared<arrow::NumericArray<ArrowType>>(
      static_cast<int64_t>(column.rows()), arrow::Buffer::Wrap(column.values()),
      validity_buffer(column.validity(), column.rows()), static_cast<int64_t>(column.nulls()));
}

template <typename T>
std::string plain(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// Parquet statistics have special rules for zeros (equal) and NaN (unordered).
template <typename T>
bool is_comparable(T value) {
  if constexpr (std::is_floating_point_v<T>) return value != 0 && !std::isnan(value);
  return true;
}

template <typename T>
void set_entries(const std::vector<T>& values, NumberedValues& to) {
  to.entries = static_cast<uint32_t>(values.size());
  to.dictionary.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  if (!std::all_of(values.begin(), values.end(), is_comparable<T>)) return;
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  to.min = plain(*min);
  to.max = plain(*max);
}

void set_entries(const std::vector<std::string_view>& texts, NumberedValues& to) {
  to.entries = static_cast<uint32_t>(texts.size());
  for (const std::string_view text : texts) {
    const auto size = static_cast<uint32_t>(text.size());
    to.dictionary.append(reinterpret_cast<const char*>(&size), sizeof size).append(text);
  }
  const auto [min, max] = std::minmax_element(texts.begin(), texts.end());
  if (min->size() > kBoundMax || max->size() > kBoundMax) return;
  to.min = *min;
  to.max = *max;
}

}  // namespace

std::shared_ptr<arrow::Array> Column::array(int64_t) { return nullptr; }

template <>
std::shared_ptr<arrow::DataType> Int64Column::type() const {
  return arrow::int64();
}
template <>
std::shared_ptr<arrow::DataType> Int32Column::type() const {
  return arrow::int32();
}
template <>
std::shared_ptr<arrow::DataType> DoubleColumn::type() const {
  return arrow::float64();
}

template <>
std::shared_ptr<arrow::Array> Int64Column::array(int64_t) {
  return number_array<arrow::Int64Type>(values_);
}
template <>
std::shared_ptr<arrow::Array> Int32Column::array(int64_t) {
  return number_array<arrow::Int32Type>(values_);
}
template <>
std::shared_ptr<arrow::Array> DoubleColumn::array(int64_t) {
  return number_array<arrow::DoubleType>(values_);
}

template <typename T>
bool NumberColumn<T>::number_values(NumberedValues& to) {
  if (values_.nulls() == values_.rows()) return true;
  if (values_.alike()) {
    set_entries(std::vector<T>{values_.first()}, to);
    return true;
  }
  if (encoding() != Encoding::kDictionary) return false;
  distinct_.clear(kEntriesMax);
  numbers_.resize(values_.rows());
  const uint8_t* bits = values_.nulls() == 0 ? nullptr : validity_bits(size());
  size_t count = 0, row = 0;
  for (const T value : values_.values()) {
    const bool valid = bits == nullptr || (bits[row / 8] >> row % 8 & 1) != 0;
    ++row;
    if (!valid) continue;
    const uint32_t number = distinct_.number_of(value);
    if (number == ValueNumbers<T>::kFull) return false;
    numbers_[count++] = number;
  }
  set_entries(distinct_.values(), to);
  to.numbers = {numbers_.data(), count};
  return true;
}
template class NumberColumn<int64_t>;
template class NumberColumn<int32_t>;
template class NumberColumn<double>;

std::shared_ptr<arrow::DataType> BoolColumn::type() const { return arrow::boolean(); }

std::shared_ptr<arrow::Array> BoolColumn::array(int64_t) {
  auto bits = std::make_shared<std::vector<uint8_t>>(values_.size() / 8 + 1, 0);
  for (size_t i = 0; i < values_.size(); ++i)
    (*bits)[i / 8] = static_cast<uint8_t>((*bits)[i / 8] | values_[i] << (i % 8));
  auto buffer = arrow::Buffer::FromString(std::string(bits->begin(), bits->end()));
  return std::make_shared<arrow::BooleanArray>(size(), std::move(buffer));
}

std::shared_ptr<arrow::DataType> TextColumn::type() const { return utf8_ ? arrow::utf8() : arrow::binary(); }

bool TextColumn::number_values(NumberedValues& to) {
  if (validity_.nulls() == rows()) return true;
  // One per thread is enough: a thread writes one column at a time.
  static thread_local std::vector<uint32_t> numbers;
  numbers.clear();
  TextNumbers distinct(kEntriesMax, kTextsOfFewMax, kTextsMax);
  const uint8_t* bits = validity_.nulls() == 0 ? nullptr : validity_bits(size());
  for (size_t row = 0; row < rows(); ++row) {
    if (bits != nullptr && (bits[row / 8] >> row % 8 & 1) == 0) continue;
    const auto begin = static_cast<size_t>(offsets_[row]), end = static_cast<size_t>(offsets_[row + 1]);
    const uint32_t number = distinct.number_of(std::string_view(bytes_).substr(begin, end - begin));
    if (number == TextNumbers::kFull) return false;
    numbers.push_back(number);
  }
  set_entries(distinct.texts(), to);
  to.numbers = numbers;
  return true;
}

std::shared_ptr<arrow::Array> TextColumn::array(int64_t) {
  return arrow::MakeArray(
      arrow::ArrayData::Make(type(), size(),
                             {validity_buffer(validity_, rows()), arrow::Buffer::Wrap(offsets_),
                              arrow::Buffer::Wrap(bytes_.data(), static_cast<int64_t>(bytes_.size()))},
                             static_cast<int64_t>(validity_.nulls())));
}

std::shared_ptr<arrow::DataType> LabelColumn::type() const { return arrow::utf8(); }

// Numbers names in order of appearance, so the dictionary has only names that occur.
bool LabelColumn::number_values(NumberedValues& to) {
  if (values_.alike()) {
    set_entries(std::vector<std::string_view>{names_[static_cast<size_t>(values_.first())]}, to);
    return true;
  }
  constexpr uint32_t kNone = UINT32_MAX;
  number_of_name_.assign(names_.size(), kNone);
  numbers_.clear();
  std::vector<std::string_view> used;
  for (const int32_t value : values_.values()) {
    uint32_t& number = number_of_name_[static_cast<size_t>(value)];
    if (number == kNone) {
      number = static_cast<uint32_t>(used.size());
      used.push_back(names_[static_cast<size_t>(value)]);
    }
    numbers_.push_back(number);
  }
  set_entries(used, to);
  to.numbers = numbers_;
  return true;
}

std::shared_ptr<arrow::DataType> SameColumn::type() const { return arrow::int64(); }

bool SameColumn::number_values(NumberedValues& to) {
  set_entries(std::vector<int64_t>{value_}, to);
  return true;
}

std::shared_ptr<arrow::DataType> EmptyColumn::type() const { return arrow::int64(); }

bool EmptyColumn::number_values(NumberedValues&) { return true; }

}  // namespace mlrun::tables
