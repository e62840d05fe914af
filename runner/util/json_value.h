// SPDX-License-Identifier: Apache-2.0
// A JSON value as a member in widely included headers, which then need not include <nlohmann/json.hpp>: that header
// takes longer to compile than most of our files. Only code that accesses the value includes it.
#pragma once

#include <memory>

#include <nlohmann/json_fwd.hpp>

namespace mlrun::util {

// Copying copies the JSON value. Null after being moved from.
class JsonValue {
 public:
  JsonValue();  // an empty object
  explicit JsonValue(nlohmann::json value);
  JsonValue(const JsonValue& other);
  JsonValue(JsonValue&& other) noexcept;
  JsonValue& operator=(const JsonValue& other);
  JsonValue& operator=(JsonValue&& other) noexcept;
  JsonValue& operator=(nlohmann::json value);
  ~JsonValue();

  nlohmann::json& operator*() { return *value_; }
  const nlohmann::json& operator*() const { return *value_; }
  nlohmann::json* operator->() { return value_.get(); }
  const nlohmann::json* operator->() const { return value_.get(); }

 private:
  std::unique_ptr<nlohmann::json> value_;
};

}  // namespace mlrun::util
