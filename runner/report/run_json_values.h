// SPDX-License-Identifier: Apache-2.0
// Values of run.json, in which any key may be missing.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace mlrun::summary {

// nullptr: there is no such key.
inline const nlohmann::json* find(const nlohmann::json& run, const char* pointer) {
  const nlohmann::json::json_pointer at(pointer);
  return run.contains(at) ? &run.at(at) : nullptr;
}

// Empty: it is missing, or no text.
inline std::string text(const nlohmann::json& run, const char* pointer) {
  const nlohmann::json* found = find(run, pointer);
  return found && found->is_string() ? found->get<std::string>() : std::string();
}

// 0: it is missing, or no integer.
inline int64_t integer(const nlohmann::json& run, const char* pointer) {
  const nlohmann::json* found = find(run, pointer);
  return found && found->is_number_integer() ? found->get<int64_t>() : 0;
}

}  // namespace mlrun::summary
