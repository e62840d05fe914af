// SPDX-License-Identifier: Apache-2.0
// Text for terminals and for JSON.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::util {

// Valid UTF-8: bytes that are not part of a well-formed sequence become \xNN, and a backslash before "x" becomes \x5c,
// so that the original can be restored.
std::string escaped_utf8(std::string_view bytes);

// The bytes of which escaped_utf8 made the text.
std::string unescaped_utf8(std::string_view text);

[[nodiscard]] bool is_utf8(std::string_view text);

// For terminals: control characters, characters that reverse or hide the text around them (U+202E, U+2066, U+2028) and
// invalid UTF-8 become \xNN. Names of files and commands are untrusted and must not control the terminal.
[[nodiscard]] std::string printable(std::string_view text);

// "512", "64K", "256M", "1.5G" (powers of 1024; a suffix "iB" or "B" is allowed).
Result<uint64_t> parse_size(std::string_view text);

// The length in nanoseconds of a unit: ns, us or µs, ms, s, m or min, h, d; 0: no such unit.
[[nodiscard]] uint64_t unit_ns(std::string_view unit);
// "10min" and "2.5s" as nanoseconds.
Result<uint64_t> parse_time(std::string_view text);
// Like parse_time; a plain number is seconds.
Result<uint64_t> parse_seconds(std::string_view text);

// "1.5 GiB": at most three digits and a unit.
std::string size_text(uint64_t bytes);

// Parts between any of the separators; empty ones are left out.
std::vector<std::string_view> split(std::string_view text, std::string_view separators);

// "a,,b", ",a", "a,": a comma-separated list with an empty part.
bool has_empty_part(std::string_view list);

// Without blanks, tabs and ends of lines at both ends.
[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// One word of a shell, in single quotes.
std::string shell_quoted(std::string_view text);

// The text in a field of fixed size, up to its first zero, as by escaped_utf8.
template <size_t N>
std::string field_text(const char (&field)[N]) {
  const std::string_view all(field, N);
  return escaped_utf8(all.substr(0, all.find('\0')));
}

// The texts and a null pointer, as exec and posix_spawn expect arguments. Valid until `texts` changes.
std::vector<char*> exec_pointers(const std::vector<std::string>& texts);

template <typename List = std::initializer_list<std::string_view>>
[[nodiscard]] constexpr bool is_one_of(std::string_view text, const List& list) {
  return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

inline std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace mlrun::util
