// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/chrome/chrome_event.h"

#include <simdjson.h>

#include "runner/exchange/import/decimal_time.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

namespace sj = simdjson;

constexpr int kDigitsOfMicrosecond = 3;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n' || text.back() == '\r' || text.back() == '\t'))
    text.remove_suffix(1);
  return text;
}

// A text, or a number or other scalar as written.
std::string_view scalar(sj::ondemand::value value) {
  std::string_view text;
  if (value.get_string().get(text) == sj::SUCCESS) return text;
  return trimmed(value.raw_json_token());
}

bool raw(sj::ondemand::value value, std::string_view& text) {
  if (sj::to_json_string(value).get(text) != sj::SUCCESS) return false;
  text = trimmed(text);
  return true;
}

void add_other(std::string& other, std::string_view key, std::string_view value) {
  if (!other.empty()) other += ',';
  other.append("\"").append(key).append("\":").append(value);
}

struct ScalarMember {
  std::string_view key;
  std::string_view ChromeEvent::*place;
};
constexpr ScalarMember kScalarMembers[] = {
    {"name", &ChromeEvent::name},       {"cat", &ChromeEvent::category}, {"pid", &ChromeEvent::pid},
    {"tid", &ChromeEvent::tid},         {"id", &ChromeEvent::id},        {"bp", &ChromeEvent::binding},
    {"s", &ChromeEvent::instant_scope}, {"scope", &ChromeEvent::scope},  {"sf", &ChromeEvent::stack_frame},
    {"weight", &ChromeEvent::weight},
};

// `ids`: {"local": ID} or {"global": ID}.
void take_id2(std::string_view ids, ChromeEvent& event) {
  for (const std::string_view which : {"local", "global"}) {
    const size_t at = ids.find("\"" + std::string(which) + "\"");
    if (at == std::string_view::npos) continue;
    std::string_view rest = ids.substr(at + which.size() + 2);
    const size_t from = rest.find_first_not_of(": \t\n\r");
    if (from == std::string_view::npos) continue;
    rest = rest.substr(from);
    if (rest.starts_with('"')) rest.remove_prefix(1);
    event.id = rest.substr(0, rest.find_first_of("\",} \t\n\r"));
    event.id_is_local = which == "local";
  }
}

// False: the value is no JSON.
bool take_member(std::string_view key, sj::ondemand::value value, ChromeEvent& event) {
  if (key == "ph") {
    const std::string_view text = scalar(value);
    event.phase = text.empty() ? '\0' : text.front();
    return true;
  }
  if (key == "ts") {
    event.ts_ns = decimal_ns(scalar(value), kDigitsOfMicrosecond);
    event.has_ts = true;
    return true;
  }
  if (key == "dur") {
    event.dur_ns = decimal_ns(scalar(value), kDigitsOfMicrosecond);
    if (!event.dur_ns) add_other(event.other, key, trimmed(value.raw_json_token()));
    return true;
  }
  for (const ScalarMember& member : kScalarMembers) {
    if (key != member.key) continue;
    event.*member.place = scalar(value);
    return true;
  }
  if (key == "args") return raw(value, event.args);
  if (key == "stack") return raw(value, event.stack);
  std::string_view text;
  if (!raw(value, text)) return false;
  if (key == "id2") {
    take_id2(text, event);
  } else {
    add_other(event.other, util::escaped_utf8(key), text);
  }
  return true;
}

}  // namespace

struct ChromeEventParser::State {
  sj::ondemand::parser parser;
  sj::ondemand::document document;
};

ChromeEventParser::ChromeEventParser() : state_(std::make_unique<State>()) {}
ChromeEventParser::~ChromeEventParser() = default;

std::string mended_json(std::string_view text, bool escapes_quotes) {
  const std::string valid = util::is_utf8(text) ? std::string(text) : util::escaped_utf8(text);
  // escaped_utf8() writes \xNN, whose backslash JSON wants doubled.
  std::string out;
  bool is_text = false;
  for (size_t i = 0; i < valid.size(); ++i) {
    const char byte = valid[i];
    if (!is_text) {
      is_text = byte == '"';
      out += byte;
    } else if (byte == '\\') {
      const char next = i + 1 < valid.size() ? valid[i + 1] : '\0';
      if (next == 'x') {
        out += "\\\\";
      } else {
        out += byte;
        if (next != '\0') out += valid[++i];
      }
    } else if (static_cast<unsigned char>(byte) < 0x20) {
      constexpr char kHex[] = "0123456789abcdef";
      out += "\\u00";
      out += kHex[byte >> 4 & 0xf];
      out += kHex[byte & 0xf];
    } else if (byte == '"' && escapes_quotes) {
      const size_t next = valid.find_first_not_of(" \n\r\t", i + 1);
      const bool ends =
          next == std::string::npos || std::string_view(",:}]").find(valid[next]) != std::string_view::npos;
      if (!ends) out += '\\';
      out += byte;
      is_text = !ends;
    } else {
      is_text = byte != '"';
      out += byte;
    }
  }
  return out;
}

bool ChromeEventParser::parse_sound(std::string_view element, ChromeEvent& event, bool& is_empty) {
  const auto failed = [&](sj::error_code error) {
    problem_ = sj::error_message(error);
    return false;
  };
  const auto begun = state_->parser.iterate(element.data(), element.size(), element.size() + sj::SIMDJSON_PADDING)
                         .get(state_->document);
  if (begun != sj::SUCCESS) return failed(begun);
  sj::ondemand::object object;
  if (const auto error = state_->document.get_object().get(object); error != sj::SUCCESS) return failed(error);
  is_empty = true;
  for (auto field : object) {
    if (field.error() != sj::SUCCESS) return failed(field.error());
    is_empty = false;
    std::string_view key;
    sj::ondemand::value value;
    if (const auto error = field.unescaped_key().get(key); error != sj::SUCCESS) return failed(error);
    if (const auto error = field.value().get(value); error != sj::SUCCESS) return failed(error);
    if (!take_member(key, value, event)) {
      problem_ = "a value that is no JSON";
      return false;
    }
  }
  return true;
}

ChromeEventParser::Outcome ChromeEventParser::parse(std::string_view element, ChromeEvent& event) {
  event = {};
  if (element.empty() || element.front() != '{') return Outcome::kNoObject;
  bool is_empty = false;
  if (parse_sound(element, event, is_empty)) return is_empty ? Outcome::kEmpty : Outcome::kEvent;
  for (const bool escapes_quotes : {false, true}) {
    mended_ = mended_json(element, escapes_quotes);
    mended_.reserve(mended_.size() + sj::SIMDJSON_PADDING);
    event = {};
    if (parse_sound(mended_, event, is_empty)) return Outcome::kMended;
  }
  return Outcome::kBad;
}

}  // namespace mlrun::exchange
