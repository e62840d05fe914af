// SPDX-License-Identifier: Apache-2.0
#include "runner/report/text/text_style.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <ctime>

namespace mlrun::report {
namespace {

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// Byte offset of character number `index`, or the end.
size_t offset_of(std::string_view text, size_t index) {
  size_t at = 0;
  while (at < text.size() && (continues(text[at]) || index-- > 0)) ++at;
  return at;
}

}  // namespace

std::string TextStyle::with_trace(std::string_view text) const {
  constexpr std::string_view kWord = "TRACE";
  std::string out;
  for (size_t at = text.find(kWord); at != std::string_view::npos; at = text.find(kWord)) {
    const std::string_view before = text.substr(0, at);
    const bool is_operand = before.ends_with("mlrun show ") || before.ends_with("mlrun report ");
    out.append(before).append(is_operand ? std::string_view(trace) : kWord);
    text.remove_prefix(at + kWord.size());
  }
  return out.append(text);
}

std::string shell_word(const std::string& text) {
  const auto is_plain = [](unsigned char byte) {
    return std::isalnum(byte) != 0 || byte >= 0x80 || std::strchr("_./+-@:,=%", byte) != nullptr;
  };
  if (!text.empty() && text.find('\0') == std::string::npos && std::all_of(text.begin(), text.end(), is_plain))
    return text;
  return util::shell_quoted(text);
}

size_t text_width(std::string_view text) {
  size_t width = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\x1b') {
      at = std::min(text.find('m', at), text.size());
    } else {
      width += !continues(text[at]);
    }
  }
  return width;
}

std::string cut_end(std::string_view text, size_t width, const util::Glyphs& glyphs) {
  if (text_width(text) <= width) return std::string(text);
  const std::string mark = glyphs.pick("…", "...");
  const size_t kept = width - std::min(width, text_width(mark));
  return std::string(text.substr(0, offset_of(text, kept))) + mark;
}

std::string cut_front(std::string_view text, size_t width, const util::Glyphs& glyphs) {
  const size_t whole = text_width(text);
  if (whole <= width) return std::string(text);
  const std::string mark = glyphs.pick("…", "...");
  const size_t kept = width - std::min(width, text_width(mark));
  return mark + std::string(text.substr(offset_of(text, whole - kept)));
}

std::string pad_right(std::string text, size_t width) {
  const size_t has = text_width(text);
  return has < width ? std::move(text) + std::string(width - has, ' ') : text;
}

std::string pad_left(std::string_view text, size_t width) {
  const size_t has = text_width(text);
  return std::string(width - std::min(width, has), ' ').append(text);
}

namespace {

// Removes the complete lines of a wrapped item from `line` and returns them; lines after the item's first are indented by two more. A word that is
// too wide is not broken: it may be a path to copy.
std::string take_lines(std::string& line, size_t indent, size_t width) {
  constexpr size_t kHanging = 2;
  std::string out;
  while (text_width(line) > width) {
    size_t blank = line.rfind(' ');
    while (blank != std::string::npos && blank > 0 && text_width(line.substr(0, blank)) > width) {
      blank = line.rfind(' ', blank - 1);
    }
    if (blank == std::string::npos || text_width(line.substr(0, blank)) <= indent + kHanging) break;
    out += line.substr(0, blank) + "\n";
    line = std::string(indent + kHanging, ' ') + line.substr(blank + 1);
  }
  return out;
}

}  // namespace

std::string wrap(const std::string& head, size_t indent, const std::vector<std::string>& items,
                 const TextStyle& style) {
  if (items.empty()) return "";
  std::string out, line = pad_right(head, indent);
  bool first = true;
  for (const std::string& item : items) {
    const std::string next = first ? item : style.dot() + item;
    if (!first && text_width(line) + text_width(next) > style.width) {
      out += line + "\n";
      line = std::string(indent, ' ') + item;
    } else {
      line += next;
    }
    out += take_lines(line, indent, style.width);
    first = false;
  }
  return out + line + "\n";
}

std::string paragraph(std::string_view text, size_t indent, size_t most_lines, const TextStyle& style) {
  const size_t room = style.width - std::min(style.width - 1, indent);
  std::string out;
  for (size_t lines = 1; !text.empty(); ++lines) {
    std::string_view line = text;
    if (lines < most_lines && text_width(text) > room) {
      const size_t blank = text.substr(0, offset_of(text, room + 1)).rfind(' ');
      line = text.substr(0, blank == std::string_view::npos ? offset_of(text, room) : blank);
    }
    out += std::string(indent, ' ') + cut_end(line, room, style.glyphs) + "\n";
    if (lines == most_lines) break;
    text.remove_prefix(line.size());
    while (text.starts_with(' ')) text.remove_prefix(1);
  }
  return out;
}

std::string date_text(int64_t realtime_ns) {
  const std::time_t seconds = realtime_ns / 1'000'000'000;
  std::tm local{};
  std::array<char, 32> text{};
  localtime_r(&seconds, &local);
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local);
  return text.data();
}

}  // namespace mlrun::report
