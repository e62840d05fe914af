// SPDX-License-Identifier: Apache-2.0
// Values inside JSON that another program, or another version of ours, wrote: any key may be missing or of another type.
// `where` is a JSON pointer, as "/clock/start".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace mlrun::util {

// Parses `text`; the result is_discarded() if it is not JSON. To be used instead of json::parse(): each caller of that
// compiles a parser.
nlohmann::json parse_json(std::string_view text);

// The value at `where`; null if missing.
const nlohmann::json& json_at(const nlohmann::json& json, const std::string& where);

// The string at `where`; empty if the value is missing or not a string. The functions below do the same for other types.
std::string text_at(const nlohmann::json& json, const std::string& where);

// `otherwise` if it is not an integer.
int64_t integer_at(const nlohmann::json& json, const std::string& where, int64_t otherwise = 0);

// 0 if it is not an integer, or negative.
uint64_t count_at(const nlohmann::json& json, const std::string& where);

// False if it is not `true`.
bool flag_at(const nlohmann::json& json, const std::string& where);

// Empty if it is not a list.
const nlohmann::json& list_at(const nlohmann::json& json, const std::string& where);

// The value as a text: on one line, or with so many blanks for each level of nesting. Bytes that are no UTF-8 become U+FFFD; dump()
// alone would throw.
std::string json_text(const nlohmann::json& json, int indent = -1);
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

}  // namespace mlrun::util
