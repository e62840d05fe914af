// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/parquet_column.h"

#include <arrow/api.h>

namespace mlrun::trace {

namespace {

// nullptr, as Arrow has it, when there are no nulls.
std::shared_ptr<arrow::Buffer> validity_buffer(Validity& validity, size_t rows) {
  return validity.nulls() == 0 ? nullptr : arrow::Buffer::Wrap(validity.bits(rows));
}

template <typename ArrowType, typename T>
std::shared_ptr<arrow::Array> number_array(const std::vector<T>& values, Validity& validity) {
  return std::make_shared<arrow::NumericArray<ArrowType>>(
      static_cast<int64_t>(values.size()), arrow::Buffer::Wrap(values), validity_buffer(validity, values.size()),
      static_cast<int64_t>(validity.nulls()));
}

}  // namespace

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
  return number_array<arrow::Int64Type>(values_, validity_);
}
template <>
std::shared_ptr<arrow::Array> Int32Column::array(int64_t) {
  return number_array<arrow::Int32Type>(values_, validity_);
}
template <>
std::shared_ptr<arrow::Array> DoubleColumn::array(int64_t) {
  return number_array<arrow::DoubleType>(values_, validity_);
}

std::shared_ptr<arrow::DataType> BoolColumn::type() const { return arrow::boolean(); }

std::shared_ptr<arrow::Array> BoolColumn::array(int64_t) {
  auto bits = std::make_shared<std::vector<uint8_t>>(values_.size() / 8 + 1, 0);
  for (size_t i = 0; i < values_.size(); ++i)
    (*bits)[i / 8] = static_cast<uint8_t>((*bits)[i / 8] | values_[i] << (i % 8));
  auto buffer = arrow::Buffer::FromString(std::string(bits->begin(), bits->end()));
  return std::make_shared<arrow::BooleanArray>(size(), std::move(buffer));
}

std::shared_ptr<arrow::DataType> TextColumn::type() const { return utf8_ ? arrow::utf8() : arrow::binary(); }

std::shared_ptr<arrow::Array> TextColumn::array(int64_t) {
  return arrow::MakeArray(arrow::ArrayData::Make(
      type(), size(),
      {validity_buffer(validity_, rows()), arrow::Buffer::Wrap(offsets_), arrow::Buffer::FromString(bytes_)},
      static_cast<int64_t>(validity_.nulls())));
}

std::shared_ptr<arrow::DataType> LabelColumn::type() const { return arrow::dictionary(arrow::int32(), arrow::utf8()); }

std::shared_ptr<arrow::Array> LabelColumn::array(int64_t) {
  arrow::StringBuilder names;
  for (const auto& name : names_) {
    if (!names.Append(name).ok()) return nullptr;
  }
  auto dictionary = names.Finish();
  if (!dictionary.ok()) return nullptr;
  auto indices = std::make_shared<arrow::Int32Array>(size(), arrow::Buffer::Wrap(values_));
  return std::make_shared<arrow::DictionaryArray>(type(), std::move(indices), *std::move(dictionary));
}

std::shared_ptr<arrow::DataType> SameColumn::type() const { return arrow::int64(); }

std::shared_ptr<arrow::Array> SameColumn::array(int64_t rows) {
  values_.assign(static_cast<size_t>(rows), value_);
  return std::make_shared<arrow::Int64Array>(rows, arrow::Buffer::Wrap(values_));
}

std::shared_ptr<arrow::DataType> EmptyColumn::type() const { return arrow::int64(); }

std::shared_ptr<arrow::Array> EmptyColumn::array(int64_t rows) {
  return arrow::MakeArrayOfNull(arrow::int64(), rows).ValueOr(nullptr);
}

}  // namespace mlrun::trace
