// SPDX-License-Identifier: Apache-2.0
// A column of a record batch of any type that tables have. A column that the batch lacks has only nulls.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <arrow/api.h>

#include "runner/parquet/batch_columns.h"

namespace mlrun::exchange {

class Values {
 public:
  enum class Kind : uint8_t { kNone, kNumber, kReal, kBoolean, kText };

  Values(const arrow::RecordBatch& batch, const char* name)
      : array_(batch.GetColumnByName(name)),
        kind_(kind_of(array_.get())),
        numbers_(batch, kind_ == Kind::kNumber ? name : ""),
        texts_(batch, kind_ == Kind::kText ? name : "") {}

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard, gnu::always_inline]] bool is_null(int64_t row) const {
    return kind_ == Kind::kNumber ? numbers_.is_null(row) : kind_ == Kind::kNone || array_->IsNull(row);
  }
  // 0 for null. Requires: the column is of this kind, or of kNone; the same for text(). real() and boolean() require their kind.
  [[nodiscard, gnu::always_inline]] int64_t number(int64_t row) const { return numbers_[row]; }
  [[nodiscard]] double real(int64_t row) const { return static_cast<const arrow::DoubleArray&>(*array_).Value(row); }
  [[nodiscard]] bool boolean(int64_t row) const { return static_cast<const arrow::BooleanArray&>(*array_).Value(row); }
  // Empty for null.
  [[nodiscard]] std::string_view text(int64_t row) const { return texts_[row]; }

 private:
  static Kind kind_of(const arrow::Array* array) {
    if (array == nullptr) return Kind::kNone;
    switch (array->type_id()) {
      case arrow::Type::INT32:
      case arrow::Type::INT64: return Kind::kNumber;
      case arrow::Type::DOUBLE: return Kind::kReal;
      case arrow::Type::BOOL: return Kind::kBoolean;
      case arrow::Type::STRING:
      case arrow::Type::BINARY:
      case arrow::Type::DICTIONARY: return Kind::kText;
      default: return Kind::kNone;
    }
  }

  std::shared_ptr<arrow::Array> array_;
  Kind kind_;
  tables::Numbers numbers_;
  tables::Texts texts_;
};

}  // namespace mlrun::exchange
