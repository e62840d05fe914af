// SPDX-License-Identifier: Apache-2.0
// Values of the summary's JSON (SUMMARY_JSON.md).
#pragma once

#include <cstdint>
#include <optional>

#include <nlohmann/json.hpp>

namespace mlrun::summary {

// null for the model's "unknown" number.
inline nlohmann::ordered_json known(int64_t value, int64_t none) {
  return value == none ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
}

template <typename T>
nlohmann::ordered_json known(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

template <typename Items>
nlohmann::ordered_json array(const Items& items, auto to) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const auto& item : items) out.push_back(to(item));
  return out;
}

}  // namespace mlrun::summary
