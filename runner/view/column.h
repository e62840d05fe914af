// SPDX-License-Identifier: Apache-2.0
// One column of `show`: a stored one, or the names for a stored column of ids. It is bound to one batch of rows at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "runner/util/result.h"
#include "runner/view/id_names.h"

namespace arrow {
class Array;
class RecordBatch;
class DataType;
}  // namespace arrow

namespace mlrun::view {

enum class Meaning {
  kPlain,
  kMoment,    // ns of CLOCK_MONOTONIC; shown relative to the start of the run
  kDuration,  // ns
  kAddress,
};

class Column {
 public:
  enum class Type { kNumber, kReal, kBoolean, kText };

  // `source`: the stored column. `names`: null to show its values unchanged. Fails for a type that cannot be shown.
  static Result<Column> make(std::string name, std::string source, const arrow::DataType& type,
                             std::shared_ptr<const IdNames> names);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& source() const { return source_; }
  [[nodiscard]] Type type() const { return names_ ? Type::kText : stored_type_; }
  [[nodiscard]] Meaning meaning() const { return meaning_; }
  [[nodiscard]] const std::shared_ptr<const IdNames>& names() const { return names_; }

  void bind(const arrow::RecordBatch& batch);

  // Values in the current batch. number, real, boolean and text require that the value is not null and of that type.
  [[nodiscard]] bool is_null(int64_t row) const;
  [[nodiscard]] bool has_id(int64_t row) const;     // of a column of names: the row has an id
  [[nodiscard]] int64_t number(int64_t row) const;  // of a column of names: the id
  [[nodiscard]] double real(int64_t row) const;
  [[nodiscard]] bool boolean(int64_t row) const;
  [[nodiscard]] std::string_view text(int64_t row) const;
  // The text as valid UTF-8. A column of bytes is escaped as in the tables (util/text.h), so that different values stay
  // different.
  [[nodiscard]] std::string utf8(int64_t row) const;

 private:
  std::string name_, source_;
  Type stored_type_ = Type::kNumber;
  Meaning meaning_ = Meaning::kPlain;
  std::shared_ptr<const IdNames> names_;
  std::shared_ptr<arrow::Array> array_;
  std::shared_ptr<arrow::Array> dictionary_;  // of a text column that is dictionary-encoded
};

}  // namespace mlrun::view
