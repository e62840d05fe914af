// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/json_members.h"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <nlohmann/json.hpp>

#include "runner/exchange/import/plain_json.h"
#include "runner/util/json_at.h"
#include "runner/util/number.h"

namespace mlrun::exchange {

namespace {

std::string_view without_space(std::string_view text) {
  const size_t end = text.find_last_not_of(" \n\r\t");
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 1);
}

bool take_plain(PlainJson& json, JsonMember& member) {
  switch (const char first = json.peek()) {
    case '"':
      member.kind = JsonMember::Kind::kText;
      if (!json.text(member.text)) return false;
      member.raw = {member.text.data() - 1, member.text.size() + 2};
      return true;
    case '{':
    case '[':
      if (!json.nested(member.raw)) return false;
      member.kind = JsonMember::Kind::kOther;
      break;
    default:
      if (!json.word(member.raw)) return false;
      member.kind = first >= 'a' ? JsonMember::Kind::kOther : JsonMember::Kind::kNumber;
  }
  member.text = member.raw;
  return true;
}

}  // namespace

struct JsonMembers::State {
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  std::string copy;
  std::vector<JsonMember> plain;

  bool begin_padded(std::string_view text) {
    const size_t capacity = text.size() + simdjson::SIMDJSON_PADDING;
    return parser.iterate(text.data(), text.size(), capacity).get(document) == simdjson::SUCCESS;
  }
  bool begin(std::string_view text) {
    copy.assign(text);
    copy.reserve(text.size() + simdjson::SIMDJSON_PADDING);
    return begin_padded(copy);
  }
  static bool take(simdjson::ondemand::value value, JsonMember& member) {
    auto type = simdjson::ondemand::json_type::null;
    if (value.type().get(type) != simdjson::SUCCESS) return false;
    switch (type) {
      case simdjson::ondemand::json_type::string:
        member.kind = JsonMember::Kind::kText;
        member.raw = without_space(value.raw_json_token());
        return value.get_string().get(member.text) == simdjson::SUCCESS;
      case simdjson::ondemand::json_type::number:
        member.kind = JsonMember::Kind::kNumber;
        member.text = member.raw = without_space(value.raw_json_token());
        return true;
      default: break;
    }
    member.kind = JsonMember::Kind::kOther;
    if (simdjson::to_json_string(value).get(member.raw) != simdjson::SUCCESS) return false;
    member.text = member.raw = without_space(member.raw);
    return true;
  }
};

JsonMembers::JsonMembers() : state_(std::make_unique<State>()) {}
JsonMembers::~JsonMembers() = default;

bool JsonMembers::visit(std::string_view object, const See& see) { return state_->begin(object) && visit_members(see); }

bool JsonMembers::visit_padded(std::string_view object, const See& see) {
  return visit_plain(object, see) || (state_->begin_padded(object) && visit_members(see));
}

// False: `object` is not plain JSON, and no member was visited.
bool JsonMembers::visit_plain(std::string_view object, const See& see) {
  std::vector<JsonMember>& members = state_->plain;
  members.clear();
  PlainJson json(object);
  if (!json.take('{')) return false;
  if (!json.take('}')) {
    do {
      JsonMember& member = members.emplace_back();
      if (json.peek() != '"' || !json.text(member.key) || !json.take(':') || !take_plain(json, member)) return false;
    } while (json.take(','));
    if (!json.take('}')) return false;
  }
  if (!json.is_at_end()) return false;
  for (const JsonMember& member : members) see(member);
  return true;
}

bool JsonMembers::visit_members(const See& see) {
  simdjson::ondemand::object members;
  if (state_->document.get_object().get(members) != simdjson::SUCCESS) return false;
  for (auto field : members) {
    JsonMember member;
    simdjson::ondemand::value value;
    if (field.error() != simdjson::SUCCESS || field.unescaped_key().get(member.key) != simdjson::SUCCESS) return false;
    if (field.value().get(value) != simdjson::SUCCESS || !State::take(value, member)) return false;
    see(member);
  }
  return true;
}

bool JsonMembers::visit_array(std::string_view array, const See& see) {
  simdjson::ondemand::array elements;
  if (!state_->begin(array) || state_->document.get_array().get(elements) != simdjson::SUCCESS) return false;
  for (auto element : elements) {
    JsonMember member;
    simdjson::ondemand::value value;
    if (element.get(value) != simdjson::SUCCESS || !State::take(value, member)) return false;
    see(member);
  }
  return true;
}

std::string quoted_json(std::string_view text) {
  const bool is_plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; });
  if (is_plain) return "\"" + std::string(text) + "\"";
  return util::json_text(nlohmann::json(text));
}

int64_t json_integer(std::string_view text, int64_t none) {
  if (const auto number = util::whole_number<int64_t>(text)) return *number;
  const auto real = util::real_number(text);
  constexpr double kMost = 9.0e18;
  const bool is_whole = real && std::abs(*real) < kMost && *real == std::floor(*real);
  return is_whole ? static_cast<int64_t>(*real) : none;
}

}  // namespace mlrun::exchange
