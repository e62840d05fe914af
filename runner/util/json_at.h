// SPDX-License-Identifier: Apache-2.0
// Values inside JSON that another program, or another version of ours, wrote: any key may be missing or of another type.
// `where` is a JSON pointer, as "/clock/start".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace mlrun::util {

// What `text` says; is_discarded() if it is no JSON. Here alone, since each call of json::parse() compiles a parser.
nlohmann::json parse_json(std::string_view text);

// null if missing.
const nlohmann::json& json_at(const nlohmann::json& json, const std::string& where);

// Empty if it is no text.
std::string text_at(const nlohmann::json& json, const std::string& where);

// `otherwise` if it is no integer.
int64_t integer_at(const nlohmann::json& json, const std::string& where, int64_t otherwise = 0);

// 0 if it is no integer, or negative.
uint64_t count_at(const nlohmann::json& json, const std::string& where);

// False if it is not `true`.
bool flag_at(const nlohmann::json& json, const std::string& where);

// Empty if it is no list.
const nlohmann::json& list_at(const nlohmann::json& json, const std::string& where);

// Whether it is a list with that text.
bool has_text_at(const nlohmann::json& json, const std::string& where, std::string_view text);

}  // namespace mlrun::util
