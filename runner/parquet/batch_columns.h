// SPDX-License-Identifier: Apache-2.0
// Columns of a record batch by name, as numbers or texts.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <arrow/api.h>

namespace mlrun::trace {

// Integers of 32 or 64 bits.
class Numbers {
 public:
  // A column that the batch lacks has only nulls.
  Numbers(const arrow::RecordBatch& batch, const char* name) : array_(batch.GetColumnByName(name)) {
    if (!array_) return;
    has_nulls_ = array_->null_count() != 0;
    if (array_->type_id() == arrow::Type::INT64) {
      wide_ = static_cast<const arrow::Int64Array&>(*array_).raw_values();
    } else {
      narrow_ = static_cast<const arrow::Int32Array&>(*array_).raw_values();
    }
  }
  // 0 for null.
  [[nodiscard]] int64_t operator[](int64_t row) const {
    if (!array_ || (has_nulls_ && array_->IsNull(row))) return 0;
    return wide_ != nullptr ? wide_[row] : narrow_[row];
  }
  [[nodiscard]] bool is_null(int64_t row) const { return !array_ || array_->IsNull(row); }

 private:
  std::shared_ptr<arrow::Array> array_;
  const int64_t* wide_ = nullptr;
  const int32_t* narrow_ = nullptr;
  bool has_nulls_ = false;
};

class Texts {
 public:
  // A column that the batch lacks has only nulls.
  Texts(const arrow::RecordBatch& batch, const char* name) : array_(batch.GetColumnByName(name)) {
    if (!array_ || array_->type_id() != arrow::Type::DICTIONARY) return;
    rows_ = static_cast<const arrow::DictionaryArray*>(array_.get());
    names_ = rows_->dictionary();
  }
  // Empty for null.
  [[nodiscard]] std::string_view operator[](int64_t row) const {
    if (!array_ || array_->IsNull(row)) return {};
    if (!rows_) return static_cast<const arrow::StringArray&>(*array_).GetView(row);
    return static_cast<const arrow::StringArray&>(*names_).GetView(rows_->GetValueIndex(row));
  }

 private:
  std::shared_ptr<arrow::Array> array_, names_;
  const arrow::DictionaryArray* rows_ = nullptr;
};

}  // namespace mlrun::trace
