// SPDX-License-Identifier: Apache-2.0
#include "runner/util/json_at.h"

#include <nlohmann/json.hpp>

namespace mlrun::util {

using nlohmann::json;

json parse_json(std::string_view text) { return json::parse(text, nullptr, false); }

const json& json_at(const json& value, const std::string& where) {
  static const json kNone;
  const json::json_pointer at(where);
  return value.contains(at) ? value.at(at) : kNone;
}

std::string text_at(const json& value, const std::string& where) {
  const json& found = json_at(value, where);
  return found.is_string() ? found.get<std::string>() : std::string();
}

int64_t integer_at(const json& value, const std::string& where, int64_t otherwise) {
  const json& found = json_at(value, where);
  return found.is_number_integer() ? found.get<int64_t>() : otherwise;
}

uint64_t count_at(const json& value, const std::string& where) {
  const json& found = json_at(value, where);
  return found.is_number_unsigned() ? found.get<uint64_t>() : 0;
}

bool flag_at(const json& value, const std::string& where) { return json_at(value, where) == true; }

const json& list_at(const json& value, const std::string& where) {
  static const json kEmpty = json::array();
  const json& found = json_at(value, where);
  return found.is_array() ? found : kEmpty;
}

std::string json_text(const json& value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

std::string json_text(const nlohmann::ordered_json& value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

}  // namespace mlrun::util
