// SPDX-License-Identifier: Apache-2.0
#include "runner/util/json_value.h"

#include <utility>

#include <nlohmann/json.hpp>

namespace mlrun::util {

using nlohmann::json;

JsonValue::JsonValue() : JsonValue(json::object()) {}
JsonValue::JsonValue(json value) : value_(std::make_unique<json>(std::move(value))) {}
JsonValue::JsonValue(const JsonValue& other) : JsonValue(*other) {}
JsonValue::JsonValue(JsonValue&& other) noexcept : JsonValue(std::move(*other)) {}
JsonValue& JsonValue::operator=(const JsonValue& other) {
  if (this != &other) *value_ = *other;
  return *this;
}
JsonValue& JsonValue::operator=(JsonValue&& other) noexcept {
  if (this != &other) *value_ = std::move(*other);
  return *this;
}
JsonValue& JsonValue::operator=(json value) {
  *value_ = std::move(value);
  return *this;
}
JsonValue::~JsonValue() = default;

}  // namespace mlrun::util
