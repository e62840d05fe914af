// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/otf2/read_attributes.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "runner/exchange/import/json_members.h"

namespace mlrun::exchange {

namespace {

std::string json_real(double number) {
  return std::isfinite(number) ? fmt::format("{}", number) : fmt::format("\"{}\"", number);
}

std::optional<int64_t> whole_number(OTF2_Type type, const OTF2_AttributeValue& value) {
  switch (type) {
    case OTF2_TYPE_UINT8: return value.uint8;
    case OTF2_TYPE_UINT16: return value.uint16;
    case OTF2_TYPE_UINT32: return value.uint32;
    case OTF2_TYPE_INT8: return value.int8;
    case OTF2_TYPE_INT16: return value.int16;
    case OTF2_TYPE_INT32: return value.int32;
    case OTF2_TYPE_INT64: return value.int64;
    default: return std::nullopt;  // the type has more members than this version knows
  }
}

}  // namespace

void Otf2Attributes::read(const OTF2_AttributeList* list) {
  values_.clear();
  const uint32_t count = list == nullptr ? 0 : OTF2_AttributeList_GetNumberOfElements(list);
  for (uint32_t i = 0; i < count; ++i) {
    Value& value = values_.emplace_back();
    if (OTF2_AttributeList_GetAttributeByIndex(list, i, &value.attribute, &value.type, &value.value) != OTF2_SUCCESS)
      values_.pop_back();
  }
}

std::string_view Otf2Attributes::text_of(OTF2_StringRef ref) const {
  const auto found = texts_.find(ref);
  return found == texts_.end() ? std::string_view() : std::string_view(found->second);
}

std::string_view Otf2Attributes::name_of(const Value& value) const {
  const auto found = names_.find(value.attribute);
  return found == names_.end() ? std::string_view() : text_of(found->second);
}

const Otf2Attributes::Value* Otf2Attributes::find(std::string_view name) const {
  const auto found =
      std::find_if(values_.begin(), values_.end(), [&](const Value& value) { return name_of(value) == name; });
  return found == values_.end() ? nullptr : &*found;
}

std::optional<int64_t> Otf2Attributes::number(std::string_view name) const {
  const Value* value = find(name);
  return value == nullptr ? std::nullopt : whole_number(value->type, value->value);
}

std::string_view Otf2Attributes::text(std::string_view name) const {
  const Value* value = find(name);
  return value == nullptr || value->type != OTF2_TYPE_STRING ? std::string_view() : text_of(value->value.stringRef);
}

std::string Otf2Attributes::json(const Value& value) const {
  if (const auto number = whole_number(value.type, value.value)) return std::to_string(*number);
  switch (value.type) {
    case OTF2_TYPE_STRING: return quoted_json(text_of(value.value.stringRef));
    case OTF2_TYPE_FLOAT: return json_real(static_cast<double>(value.value.float32));
    case OTF2_TYPE_DOUBLE: return json_real(value.value.float64);
    case OTF2_TYPE_UINT64:
    case OTF2_TYPE_LOCATION: return std::to_string(value.value.uint64);
    default: return std::to_string(value.value.uint32);  // numbers of definitions
  }
}

std::string Otf2Attributes::members(std::string_view without) const {
  std::string members;
  for (const Value& value : values_) {
    const std::string_view name = name_of(value);
    if (name == without) continue;
    if (!members.empty()) members += ',';
    members += quoted_json(name.empty() ? fmt::format("attribute {}", value.attribute) : std::string(name));
    members += ':';
    members += json(value);
  }
  return members;
}

}  // namespace mlrun::exchange
