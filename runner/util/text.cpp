// SPDX-License-Identifier: Apache-2.0
#include "runner/util/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

template class std::basic_string<char>;  // see headers.h

namespace mlrun::util {

namespace {

// Length of the well-formed sequence at the front of `text`; 0: none (RFC 3629, no surrogates, no overlong form).
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return follows(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const unsigned low = lead == 0xe0 ? 0xa0 : 0x80;
    const unsigned high = lead == 0xed ? 0x9f : 0xbf;
    return follows(1, low, high) && follows(2) ? 3 : 0;
  }
  if (lead < 0xf0 || lead > 0xf4) return 0;
  const unsigned low = lead == 0xf0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xf4 ? 0x8f : 0xbf;
  return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
}

// Requires: a well-formed sequence.
uint32_t code_point(std::string_view sequence) {
  const auto lead = static_cast<unsigned char>(sequence[0]);
  uint32_t code = sequence.size() == 1 ? lead : lead & (0xffu >> (sequence.size() + 1));
  for (const char byte : sequence.substr(1)) code = code << 6 | (static_cast<unsigned char>(byte) & 0x3fu);
  return code;
}

// Characters without a glyph that move, reverse or hide the text around them: controls (C0, C1), directional marks,
// line and paragraph separators, invisible characters and tags. Joiners (U+200C, U+200D) are part of words.
bool steers(uint32_t code) {
  static constexpr std::pair<uint32_t, uint32_t> kRanges[] = {
      {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},   {0x180e, 0x180e}, {0x200b, 0x200b},
      {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
  return std::any_of(std::begin(kRanges), std::end(kRanges),
                     [code](const auto& range) { return code >= range.first && code <= range.second; });
}

}  // namespace

std::string escaped_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    size_t length = utf8_length(bytes);
    if (bytes.substr(0, 2) == "\\x") length = 0;
    if (length == 0) text += fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes[0]));
    text += bytes.substr(0, length);
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return text;
}

std::string unescaped_utf8(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  while (!text.empty()) {
    unsigned byte = 0;
    const char *digits = text.data() + 2, *end = text.data() + 4;
    const bool is_escape =
        text.size() >= 4 && text.starts_with("\\x") && std::from_chars(digits, end, byte, 16).ptr == end;
    bytes += is_escape ? static_cast<char>(byte) : text[0];
    text.remove_prefix(is_escape ? 4 : 1);
  }
  return bytes;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
    if (length == 0 || steers(code_point(character))) {
      for (const char byte : character) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    } else {
      out += character;
    }
    text.remove_prefix(character.size());
  }
  return out;
}

namespace {

// A number with a unit behind it: "2.5s".
struct Quantity {
  uint64_t whole = 0;
  double fraction = 0;  // from 0 to below 1
  std::string_view unit;

  // In ones, each unit being `ones` of them; nothing: more than `most`.
  [[nodiscard]] std::optional<uint64_t> times(uint64_t ones, uint64_t most) const {
    if (whole > most / ones) return std::nullopt;
    const uint64_t product = whole * ones;
    const auto rest = static_cast<uint64_t>(std::llround(fraction * static_cast<double>(ones)));
    return rest > most - product ? std::nullopt : std::optional(product + rest);
  }
};

std::optional<Quantity> parse_quantity(std::string_view text) {
  Quantity quantity;
  const char* const end = text.data() + text.size();
  const auto [point, error] = std::from_chars(text.data(), end, quantity.whole);
  if (error != std::errc()) return std::nullopt;
  const char* unit = point;
  if (point != end && *point == '.') {
    unit = std::find_if_not(point + 1, end, [](char c) { return c >= '0' && c <= '9'; });
    if (unit == point + 1) return std::nullopt;
    std::from_chars(point, unit, quantity.fraction);
  }
  quantity.unit = {unit, static_cast<size_t>(end - unit)};
  return quantity;
}

}  // namespace

Result<uint64_t> parse_size(std::string_view text) {
  const auto quantity = parse_quantity(text);
  std::string_view unit = quantity ? quantity->unit : std::string_view();
  unsigned shift = 0;
  if (!unit.empty()) {
    const size_t power = std::string_view("KMGT").find(static_cast<char>(unit[0] & ~0x20));
    if (power != std::string_view::npos) {
      shift = static_cast<unsigned>(power + 1) * 10;
      unit.remove_prefix(1);
    }
  }
  const bool known = unit.empty() || unit == "B" || (shift != 0 && unit == "iB");
  const bool is_part = quantity && shift == 0 && quantity->fraction != 0;  // of a byte
  const auto bytes = quantity && known && !is_part ? quantity->times(uint64_t{1} << shift, UINT64_MAX) : std::nullopt;
  if (bytes) return *bytes;
  return fail(
      fmt::format("'{}' is not a size; write a number of bytes, or a number with K, M or G, such as 256M", text));
}

uint64_t unit_ns(std::string_view unit) {
  constexpr uint64_t kSecond = 1'000'000'000;
  constexpr std::pair<std::string_view, uint64_t> kUnits[] = {
      {"ns", 1},           {"us", 1000},          {"µs", 1000},
      {"ms", 1'000'000},   {"s", kSecond},        {"min", 60 * kSecond},
      {"m", 60 * kSecond}, {"h", 3600 * kSecond}, {"d", 86'400 * kSecond}};
  for (const auto& [name, ns] : kUnits) {
    if (name == unit) return ns;
  }
  return 0;
}

Result<uint64_t> parse_time(std::string_view text) {
  const auto quantity = parse_quantity(text);
  const uint64_t unit = quantity ? unit_ns(quantity->unit) : 0;
  if (const auto ns = unit != 0 ? quantity->times(unit, uint64_t{INT64_MAX}) : std::nullopt) return *ns;
  return fail(fmt::format("'{}' is not a time; write a number and ns, us, ms, s, min, h or d, such as 10min", text));
}

Result<uint64_t> parse_seconds(std::string_view text) {
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
  const auto seconds = is_number ? parse_time(std::string(text) + "s") : parse_time(text);
  return seconds ? seconds : parse_time(text);  // an error names the text as it was given
}

std::string size_text(uint64_t bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < kUnits.size(); unit++) value /= 1024;
  const int digits = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, digits, kUnits[unit]);
}

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(separators), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string shell_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char byte : text) quoted += byte == '\'' ? std::string("'\\''") : std::string(1, byte);
  return quoted + "'";
}

std::vector<char*> exec_pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

bool has_empty_part(std::string_view list) {
  return list.empty() || list.front() == ',' || list.back() == ',' || list.find(",,") != std::string_view::npos;
}

}  // namespace mlrun::util
