// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/tables/row_reader.h"

#include <algorithm>
#include <iterator>

#include <arrow/api.h>

#include "runner/parquet/table_reader.h"
#include "runner/summary/names.h"

namespace mlrun::summary {
namespace {

// The position of the name in a list of names; the first position for an unknown name.
template <typename Enum>
Enum place_in(const auto& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  return found == std::end(names) ? Enum{} : static_cast<Enum>(found - std::begin(names));
}

}  // namespace

Status RowReader::load() {
  auto reader = tables::TableReader::open(trace_folder_, table_);
  if (!reader) return tl::make_unexpected(reader.error());
  for (;;) {
    auto batch = reader->next();
    if (!batch) return tl::make_unexpected(batch.error());
    if (!*batch) return {};
    batches_.push_back(*std::move(batch));
  }
}

bool RowReader::next_row() {
  if (!problem_.empty()) return false;
  ++row_;
  while (batch_ < batches_.size() && row_ >= batches_[batch_]->num_rows()) {
    ++batch_;
    row_ = 0;
  }
  return batch_ < batches_.size();
}

bool RowReader::has(const std::string& name) const { return batches_[batch_]->schema()->GetFieldIndex(name) >= 0; }

std::shared_ptr<arrow::Array> RowReader::cell(const std::string& name) {
  const auto column = batches_[batch_]->GetColumnByName(name);
  if (!column) wrong(name, "is missing");
  return column && column->IsValid(row_) ? column : nullptr;
}

int64_t RowReader::number(const std::string& name, int64_t otherwise) {
  const auto column = cell(name);
  if (!column) return otherwise;
  if (column->type_id() == arrow::Type::INT64) return static_cast<const arrow::Int64Array&>(*column).Value(row_);
  if (column->type_id() == arrow::Type::INT32) return static_cast<const arrow::Int32Array&>(*column).Value(row_);
  wrong(name, "is not an integer");
  return otherwise;
}

void RowReader::operator()(const std::string& name, int64_t& value) { value = number(name, value); }

void RowReader::operator()(const std::string& name, std::string& value) {
  const auto column = cell(name);
  if (!column) return;
  if (column->type_id() == arrow::Type::STRING) {
    value = static_cast<const arrow::StringArray&>(*column).GetString(row_);
  } else if (column->type_id() == arrow::Type::DICTIONARY) {
    const auto& coded = static_cast<const arrow::DictionaryArray&>(*column);
    const auto names = std::dynamic_pointer_cast<arrow::StringArray>(coded.dictionary());
    names ? void(value = names->GetString(coded.GetValueIndex(row_))) : wrong(name, "is not text");
  } else {
    wrong(name, "is not text");
  }
}

void RowReader::operator()(const std::string& name, Group& value) {
  std::string text;
  (*this)(name, text);
  for (const Group group : {Group::kFiles, Group::kChannels, Group::kOther, Group::kWaits}) {
    if (group_name(group) == text) {
      value = group;
      return;
    }
  }
  wrong(name, "contains an unknown group '" + text + "'");
}

void RowReader::operator()(const std::string& name, Direction& value) {
  std::string text;
  (*this)(name, text);
  if (text != "read" && text != "write") wrong(name, "contains an unknown direction '" + text + "'");
  value = text == "read" ? Direction::kRead : Direction::kWrite;
}

void RowReader::operator()(const std::string& name, SiteKind& value) {
  std::string text;
  (*this)(name, text);
  value = text == site_kind_name(SiteKind::kFiles) ? SiteKind::kFiles : SiteKind::kAllocations;
  if (text != site_kind_name(value)) wrong(name, "contains an unknown kind '" + text + "'");
}

void RowReader::operator()(const std::string& name, Activity& value) {
  std::string text;
  (*this)(name, text);
  value = place_in<Activity>(kActivityNames, text);
}

void RowReader::operator()(const std::string& name, State& value) {
  std::string text;
  (*this)(name, text);
  value = place_in<State>(kStateNames, text);
}

void RowReader::wrong(const std::string& name, const std::string& what) {
  if (!problem_.empty()) return;
  problem_ = "cannot read table " + table_ + " of " + trace_folder_ + ": column '" + name + "' " + what +
             "; the trace is damaged, or was written by another version of mlrun: read it with that version";
}

}  // namespace mlrun::summary
