// SPDX-License-Identifier: Apache-2.0
// Values of the summary's JSON (SUMMARY_JSON.md).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

#include <nlohmann/json.hpp>

namespace mlrun::report {

// null for the model's "unknown" number.
inline nlohmann::ordered_json known(int64_t value, std::optional<int64_t> none) {
  return value == none ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
}

template <typename T>
nlohmann::ordered_json known(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

// Members in the order that the object is to have; their values are set later.
inline nlohmann::ordered_json places(std::initializer_list<const char*> members) {
  nlohmann::ordered_json out;
  for (const char* member : members) out[member] = nullptr;
  return out;
}

// A visitor of the single numbers (summary/tables/values.h).
struct JsonValues {
  void operator()(const char* /*name*/, const char* /*unit*/, int64_t /*value*/) const {}
  void operator()(const char* /*name*/, const char* /*unit*/, int64_t value, const char* place,
                  std::optional<int64_t> none = {}) const {
    json[nlohmann::ordered_json::json_pointer(place)] = known(value, none);
  }
  nlohmann::ordered_json& json;
};

template <typename Items>
nlohmann::ordered_json array(const Items& items, auto to) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const auto& item : items) out.push_back(to(item));
  return out;
}

}  // namespace mlrun::report
