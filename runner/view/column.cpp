// SPDX-License-Identifier: Apache-2.0
#include "runner/view/column.h"

#include <algorithm>
#include <array>
#include <utility>

#include <arrow/api.h>

#include "runner/util/text.h"

namespace mlrun::view {
namespace {

template <typename Array>
const Array& as(const std::shared_ptr<arrow::Array>& array) {
  return static_cast<const Array&>(*array);
}

Result<Column::Type> type_of(const arrow::DataType& type, const std::string& name) {
  switch (type.id()) {
    case arrow::Type::INT32:
    case arrow::Type::INT64: return Column::Type::kNumber;
    case arrow::Type::DOUBLE: return Column::Type::kReal;
    case arrow::Type::BOOL: return Column::Type::kBoolean;
    case arrow::Type::STRING:
    case arrow::Type::BINARY: return Column::Type::kText;
    case arrow::Type::DICTIONARY:
      if (static_cast<const arrow::DictionaryType&>(type).value_type()->id() == arrow::Type::STRING)
        return Column::Type::kText;
      break;
    default: break;
  }
  return fail("cannot show column '" + name + "': its type is " + type.ToString() + "; leave it out with --columns");
}

Meaning meaning_of(const std::string& name, Column::Type type) {
  static constexpr std::array<std::string_view, 7> kMoments = {"ts",      "first",        "last",          "end_min",
                                                               "end_max", "heap_peak_ts", "mapped_peak_ts"};
  static constexpr std::array<std::string_view, 3> kAddresses = {"addr", "old_addr", "site"};
  if (type != Column::Type::kNumber) return Meaning::kPlain;
  if (std::find(kMoments.begin(), kMoments.end(), name) != kMoments.end()) return Meaning::kMoment;
  if (std::find(kAddresses.begin(), kAddresses.end(), name) != kAddresses.end()) return Meaning::kAddress;
  return name == "dur" || name.ends_with("_ns") ? Meaning::kDuration : Meaning::kPlain;
}

}  // namespace

Result<Column> Column::make(std::string name, std::string source, const arrow::DataType& type,
                            std::shared_ptr<const IdNames> names) {
  const auto stored = type_of(type, source);
  if (!stored) return tl::make_unexpected(stored.error());
  Column column;
  column.meaning_ = names ? Meaning::kPlain : meaning_of(name, *stored);
  column.name_ = std::move(name);
  column.source_ = std::move(source);
  column.stored_type_ = *stored;
  column.names_ = std::move(names);
  return column;
}

void Column::bind(const arrow::RecordBatch& batch) {
  array_ = batch.GetColumnByName(source_);
  dictionary_ =
      array_->type_id() == arrow::Type::DICTIONARY ? as<arrow::DictionaryArray>(array_).dictionary() : nullptr;
}

bool Column::is_null(int64_t row) const { return array_->IsNull(row) || (names_ && text(row).empty()); }

bool Column::has_id(int64_t row) const { return array_->IsValid(row); }

int64_t Column::number(int64_t row) const {
  return array_->type_id() == arrow::Type::INT64 ? as<arrow::Int64Array>(array_).Value(row)
                                                 : as<arrow::Int32Array>(array_).Value(row);
}

double Column::real(int64_t row) const { return as<arrow::DoubleArray>(array_).Value(row); }

bool Column::boolean(int64_t row) const { return as<arrow::BooleanArray>(array_).Value(row); }

std::string Column::utf8(int64_t row) const {
  const std::string_view bytes = text(row);
  const bool is_text = names_ || dictionary_ || array_->type_id() == arrow::Type::STRING;
  return is_text && util::is_utf8(bytes) ? std::string(bytes) : util::escaped_utf8(bytes);
}

std::string_view Column::text(int64_t row) const {
  if (names_) return names_->name(number(row));
  if (dictionary_)
    return as<arrow::StringArray>(dictionary_).GetView(as<arrow::DictionaryArray>(array_).GetValueIndex(row));
  return array_->type_id() == arrow::Type::STRING ? as<arrow::StringArray>(array_).GetView(row)
                                                  : as<arrow::BinaryArray>(array_).GetView(row);
}

}  // namespace mlrun::view
