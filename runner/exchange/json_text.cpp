// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/json_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
}

void append_escaped(std::string& to, std::string_view utf8) {
  for (const char c : utf8) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      to += '\\';
      to += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      fmt::format_to(std::back_inserter(to), "\\u{:04x}", byte);
    } else {
      to += c;
    }
  }
}

}  // namespace

void append_json(std::string& to, std::string_view text) {
  to += '"';
  if (std::all_of(text.begin(), text.end(), is_plain)) {
    to += text;
  } else if (util::is_utf8(text)) {
    append_escaped(to, text);
  } else {
    append_escaped(to, util::escaped_utf8(text));
  }
  to += '"';
}

void append_json(std::string& to, int64_t number) {
  constexpr int64_t kExact = int64_t{1} << 53;
  const fmt::format_int digits(number);
  const bool is_exact = number >= -kExact && number <= kExact;
  if (!is_exact) to += '"';
  to.append(digits.data(), digits.size());
  if (!is_exact) to += '"';
}

void append_json(std::string& to, double number) {
  to += std::isfinite(number) ? fmt::format("{}", number) : fmt::format("\"{}\"", number);
}

void append_microseconds(std::string& to, int64_t ns) {
  if (ns < 0) {
    to += '-';
    ns = -ns;
  }
  const fmt::format_int whole(ns / 1000);
  to.append(whole.data(), whole.size());
  const auto rest = unsigned(ns % 1000);
  const char decimals[4] = {'.', char('0' + rest / 100), char('0' + rest / 10 % 10), char('0' + rest % 10)};
  to.append(decimals, sizeof(decimals));
}

}  // namespace mlrun::exchange
