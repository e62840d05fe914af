// SPDX-License-Identifier: Apache-2.0
#include "runner/util/proc_lines.h"

#include <algorithm>
#include <charconv>

#include "runner/util/text.h"

namespace mlrun::util {

namespace {

constexpr int kHexadecimal = 16, kDecimal = 10;

bool read(std::string_view text, int base, auto& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size();
}

// Two numbers with `between` between them: "1000-2000", "fe:00".
bool read_pair(std::string_view text, char between, int base, auto& first, auto& second) {
  const size_t at = text.find(between);
  return at != std::string_view::npos && read(text.substr(0, at), base, first) &&
         read(text.substr(at + 1), base, second);
}

std::string_view take_word(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(line.find_first_not_of(' ', word.size()), line.size()));
  return word;
}

}  // namespace

std::optional<MapsLine> maps_line(std::string_view line) {
  MapsLine found;
  found.range = take_word(line);
  if (!read_pair(found.range, '-', kHexadecimal, found.start, found.end)) return std::nullopt;  // other line of smaps
  found.rights = take_word(line);
  found.is_code = found.rights.find('x') != std::string_view::npos;
  const std::string_view offset = take_word(line), device = take_word(line), inode = take_word(line);
  found.path = line;
  const bool is_sound = read(offset, kHexadecimal, found.file_offset) &&
                        read_pair(device, ':', kHexadecimal, found.major, found.minor) &&
                        read(inode, kDecimal, found.inode);
  return is_sound ? std::optional(found) : std::nullopt;
}

std::optional<MountLine> mount_line(std::string_view line) {
  const auto words = split(line, " ");
  const auto dash = std::find(words.begin(), words.end(), "-");
  constexpr int kLeast = 6;  // words before the optional ones, which end with the dash
  if (dash - words.begin() < kLeast || words.end() - dash < 2) return std::nullopt;
  MountLine found;
  found.root = words[3];
  found.point = words[4];
  found.file_system = dash[1];
  if (words.end() - dash > 3) found.options = dash[3];
  const bool is_sound =
      read(words[0], kDecimal, found.id) && read_pair(words[2], ':', kDecimal, found.major, found.minor);
  return is_sound ? std::optional(found) : std::nullopt;
}

std::vector<std::string_view> stat_words(std::string_view text) {
  const size_t name_end = text.rfind(')');
  return name_end == std::string_view::npos ? std::vector<std::string_view>() : split(text.substr(name_end + 1), " \n");
}

std::vector<std::string_view> status_words(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(name)) return split(line.substr(name.size()), "\t ");
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return {};
}

}  // namespace mlrun::util
