// SPDX-License-Identifier: Apache-2.0
// Decimal numbers of any length as nanoseconds, without the rounding of floating point.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace mlrun::exchange {

// A fast decimal_ns() for unsigned numbers of at most 19 digits, at most `digits` of them after the point; nothing: use decimal_ns().
[[nodiscard]] inline std::optional<int64_t> short_decimal_ns(std::string_view text, int digits) {
  constexpr size_t kDigitsMax = 19;
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max() / 4;
  if (text.empty() || text.size() > kDigitsMax + 1) return std::nullopt;
  uint64_t value = 0;
  bool has_point = false;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      value = value * 10 + static_cast<uint64_t>(c - '0');
      if (has_point && --digits < 0) return std::nullopt;
    } else if (c == '.' && !has_point) {
      has_point = true;
    } else {
      return std::nullopt;
    }
  }
  const size_t count = text.size() - (has_point ? 1 : 0);
  if (count == 0 || count > kDigitsMax) return std::nullopt;
  for (; digits > 0; --digits) {
    if (value > kMost / 10) return std::nullopt;
    value *= 10;
  }
  return value <= kMost ? std::optional(static_cast<int64_t>(value)) : std::nullopt;
}

// "1623143089861043.25" in a unit of 10^`digits` ns (3: microseconds) is 1623143089861043250. Rounds to the nearest nanosecond. Nothing:
// no number, or out of range (TraceClock's bounds).
[[nodiscard]] inline std::optional<int64_t> decimal_ns(std::string_view text, int digits) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 4;
  if (const auto simple = short_decimal_ns(text, digits)) return simple;
  if (text.empty()) return std::nullopt;
  const bool is_negative = text.front() == '-';
  if (is_negative || text.front() == '+') text.remove_prefix(1);
  // The exponent moves the point.
  int exponent = 0;
  if (const size_t e = text.find_first_of("eE"); e != std::string_view::npos) {
    std::string_view power = text.substr(e + 1);
    text = text.substr(0, e);
    const bool is_small = power.starts_with('-');
    if (is_small || power.starts_with('+')) power.remove_prefix(1);
    if (power.empty()) return std::nullopt;
    for (const char digit : power) {
      if (digit < '0' || digit > '9') return std::nullopt;
      if (exponent < 1000) exponent = exponent * 10 + (digit - '0');
    }
    if (is_small) exponent = -exponent;
  }
  const size_t point = text.find('.');
  int scale = digits + exponent;  // decimal places still to be moved
  bool is_past_point = false, any = false, rounds_up = false, is_cut = false;
  int64_t value = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == point) {
      is_past_point = true;
      continue;
    }
    const char digit = text[i];
    if (digit < '0' || digit > '9') return std::nullopt;
    any = true;
    const int place = is_past_point ? 0 : static_cast<int>(std::min(point, text.size()) - i - 1);
    // Digits below one nanosecond only round the value.
    if (is_past_point ? scale <= 0 : scale < 0 && place + scale < 0) {
      if (!is_cut) rounds_up = digit >= '5' && (is_past_point ? scale == 0 : place + scale == -1);
      is_cut = true;
      continue;
    }
    if (value > (kMost - (digit - '0')) / 10) return std::nullopt;
    value = value * 10 + (digit - '0');
    if (is_past_point) --scale;
  }
  if (!any) return std::nullopt;
  for (; scale > 0 && value != 0; --scale) {
    if (value > kMost / 10) return std::nullopt;
    value *= 10;
  }
  if (rounds_up) ++value;
  return is_negative ? -value : value;
}

}  // namespace mlrun::exchange
