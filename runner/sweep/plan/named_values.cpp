// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/plan/named_values.h"

#include <cctype>

namespace mlrun::sweep {

namespace {

bool begins_name(char byte) { return std::isalpha(static_cast<unsigned char>(byte)) != 0 || byte == '_'; }
bool continues_name(char byte) {
  return begins_name(byte) || std::isdigit(static_cast<unsigned char>(byte)) != 0 || byte == '-';
}

// The name between `open` at the text's begin and `close` behind it; empty: there is none.
std::string_view name_between(std::string_view text, std::string_view open, std::string_view close) {
  if (!text.starts_with(open)) return {};
  text.remove_prefix(open.size());
  size_t length = 0;
  while (length < text.size() && continues_name(text[length])) length++;
  const std::string_view name = text.substr(0, length);
  return is_value_name(name) && text.substr(length).starts_with(close) ? name : std::string_view();
}

// Calls `put_text` with literal text and `put_name` with each {name}.
void read_word(std::string_view word, const std::function<void(std::string_view)>& put_text,
               const std::function<void(std::string_view)>& put_name) {
  while (!word.empty()) {
    size_t taken = 1;
    if (const auto shells = name_between(word, "${", "}"); !shells.empty()) {
      taken = shells.size() + 3;
      put_text(word.substr(0, taken));
    } else if (const auto literal = name_between(word, "{{", "}}"); !literal.empty()) {
      taken = literal.size() + 4;
      put_text(word.substr(1, taken - 2));
    } else if (const auto name = name_between(word, "{", "}"); !name.empty()) {
      taken = name.size() + 2;
      put_name(name);
    } else {
      put_text(word.substr(0, 1));
    }
    word.remove_prefix(taken);
  }
}

}  // namespace

bool is_value_name(std::string_view text) {
  if (text.empty() || !begins_name(text.front())) return false;
  for (const char byte : text) {
    if (!continues_name(byte)) return false;
  }
  return true;
}

std::set<std::string> names_in(const Words& words) {
  std::set<std::string> names;
  for (const std::string& word : words) {
    read_word(
        word, [](std::string_view) {}, [&](std::string_view name) { names.emplace(name); });
  }
  return names;
}

std::string with_values(std::string_view word, const Parameters& values) {
  std::string filled;
  read_word(
      word, [&](std::string_view text) { filled += text; },
      [&](std::string_view name) {
        const auto value = values.find(std::string(name));
        if (value != values.end()) {
          filled += value->second;
        } else {
          filled.append("{").append(name).append("}");
        }
      });
  return filled;
}

std::string with_literal_braces(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    size_t taken = 1;
    if (const auto shells = name_between(text, "${", "}"); !shells.empty()) {
      taken = shells.size() + 3;
      escaped += text.substr(0, taken);
    } else if (const auto name = name_between(text, "{", "}"); !name.empty()) {
      taken = name.size() + 2;
      escaped.append("{").append(text.substr(0, taken)).append("}");
    } else {
      escaped += text.front();
    }
    text.remove_prefix(taken);
  }
  return escaped;
}

}  // namespace mlrun::sweep
