// SPDX-License-Identifier: Apache-2.0
// Columns of a record batch by name, as numbers or texts.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <arrow/api.h>

namespace mlrun::tables {

// Integers of 32 or 64 bits.
class Numbers {
 public:
  // If the batch lacks the column, all values are null.
  Numbers(const arrow::RecordBatch& batch, const char* name) : array_(batch.GetColumnByName(name)) {
    if (!array_ || array_->null_count() == array_->length()) return;
    if (array_->null_count() != 0) nulls_ = array_->null_bitmap_data();
    offset_ = array_->offset();
    if (array_->type_id() == arrow::Type::INT64) {
      wide_ = static_cast<const arrow::Int64Array&>(*array_).raw_values();
    } else {
      narrow_ = static_cast<const arrow::Int32Array&>(*array_).raw_values();
    }
  }
  // 0 for null.
  [[nodiscard, gnu::always_inline]] int64_t operator[](int64_t row) const {
    if (is_null(row)) return 0;
    return wide_ != nullptr ? wide_[row] : narrow_[row];
  }
  [[nodiscard, gnu::always_inline]] bool is_null(int64_t row) const {
    if (wide_ == nullptr && narrow_ == nullptr) return true;
    const int64_t bit = row + offset_;
    return nulls_ != nullptr && (nulls_[bit >> 3] >> (bit & 7) & 1) == 0;
  }

 private:
  std::shared_ptr<arrow::Array> array_;
  const int64_t* wide_ = nullptr;
  const int32_t* narrow_ = nullptr;
  const uint8_t* nulls_ = nullptr;  // one bit per value; nullptr: no value is null
  int64_t offset_ = 0;              // position of the first value's bit in nulls_
};

class Texts {
 public:
  // If the batch lacks the column, all values are null.
  Texts(const arrow::RecordBatch& batch, const char* name) : array_(batch.GetColumnByName(name)) {
    if (!array_ || array_->type_id() != arrow::Type::DICTIONARY) return;
    const auto& rows = static_cast<const arrow::DictionaryArray&>(*array_);
    names_ = rows.dictionary();
    indices_ = static_cast<const arrow::Int32Array&>(*rows.indices()).raw_values();
  }
  // Empty for null.
  [[nodiscard]] std::string_view operator[](int64_t row) const {
    if (!array_ || array_->IsNull(row)) return {};
    if (indices_ == nullptr) return static_cast<const arrow::StringArray&>(*array_).GetView(row);
    return static_cast<const arrow::StringArray&>(*names_).GetView(indices_[row]);
  }

 private:
  std::shared_ptr<arrow::Array> array_, names_;
  const int32_t* indices_ = nullptr;  // of a column that is dictionary-encoded: Parquet's indexes have 32 bits
};

}  // namespace mlrun::tables
