// SPDX-License-Identifier: Apache-2.0
// Columns of a record batch by name, as numbers or texts.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <arrow/api.h>

namespace mlrun::idle {

class Numbers {
 public:
  Numbers(const arrow::RecordBatch& batch, const char* name) : array_(batch.GetColumnByName(name)) {}
  // 0 for null.
  [[nodiscard]] int64_t operator[](int64_t row) const {
    if (array_->IsNull(row)) return 0;
    return array_->type_id() == arrow::Type::INT64 ? static_cast<const arrow::Int64Array&>(*array_).Value(row)
                                                   : static_cast<const arrow::Int32Array&>(*array_).Value(row);
  }
  [[nodiscard]] bool is_null(int64_t row) const { return array_->IsNull(row); }

 private:
  std::shared_ptr<arrow::Array> array_;
};

class Texts {
 public:
  Texts(const arrow::RecordBatch& batch, const char* name) : array_(batch.GetColumnByName(name)) {
    if (array_->type_id() != arrow::Type::DICTIONARY) return;
    rows_ = static_cast<const arrow::DictionaryArray*>(array_.get());
    names_ = rows_->dictionary();
  }
  [[nodiscard]] std::string_view operator[](int64_t row) const {
    if (array_->IsNull(row)) return {};
    if (!rows_) return static_cast<const arrow::StringArray&>(*array_).GetView(row);
    return static_cast<const arrow::StringArray&>(*names_).GetView(rows_->GetValueIndex(row));
  }

 private:
  std::shared_ptr<arrow::Array> array_, names_;
  const arrow::DictionaryArray* rows_ = nullptr;
};

}  // namespace mlrun::idle
