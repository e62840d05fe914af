// SPDX-License-Identifier: Apache-2.0
// Numbers in texts. A number that `Number` cannot hold is none.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace mlrun::util {

// The number at the start of a text; 0: there is none.
template <typename Number>
[[nodiscard]] Number leading_number(std::string_view text, int base = 10) {
  Number number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, base);
  return number;
}

// nullopt: the text is not a number as a whole.
template <typename Number>
[[nodiscard]] std::optional<Number> whole_number(std::string_view text, int base = 10) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// The same with a point and an exponent, or inf or nan.
[[nodiscard]] inline std::optional<double> real_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace mlrun::util
