// SPDX-License-Identifier: Apache-2.0
// A JSON value as a member in widely included headers: the library's header takes longer to compile than most of our
// files. Code that accesses the value includes <nlohmann/json.hpp>.
#pragma once

#include <memory>

#include <nlohmann/json_fwd.hpp>

namespace mlrun::util {

// Copies by value. Null after being moved from.
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
