// SPDX-License-Identifier: Apache-2.0
// Text layout for one terminal: its width, colours and characters. Widths count characters, not bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runner/util/text.h"
#include "runner/util/units.h"

namespace mlrun::report {

inline constexpr size_t kLead = 14;  // width of the name at the start of a line of the summary

struct TextStyle {
  size_t width = 100;  // 40 at least
  bool colour = false;
  util::Glyphs glyphs;
  std::string trace = "TRACE";  // the trace's folder in printed commands, quoted as a word of a shell

  [[nodiscard]] std::string bold(std::string_view text) const { return paint("\x1b[1m", text); }
  [[nodiscard]] std::string dim(std::string_view text) const { return paint("\x1b[2m", text); }
  [[nodiscard]] std::string warning(std::string_view text) const { return paint("\x1b[1;33m", text); }
  [[nodiscard]] std::string good(std::string_view text) const { return paint("\x1b[32m", text); }
  [[nodiscard]] std::string bad(std::string_view text) const { return paint("\x1b[1;31m", text); }
  // Replaces TRACE in commands such as "mlrun show TRACE call" by the folder.
  [[nodiscard]] std::string with_trace(std::string_view text) const;
  [[nodiscard]] const char* dot() const { return glyphs.pick(" · ", " - "); }

 private:
  [[nodiscard]] std::string paint(const char* code, std::string_view text) const {
    if (!colour || text.empty()) return std::string(text);
    const bool ends_line = text.ends_with('\n');
    if (ends_line) text.remove_suffix(1);
    return code + std::string(text) + "\x1b[0m" + (ends_line ? "\n" : "");
  }
};

// Number of characters of valid UTF-8, without colour codes.
[[nodiscard]] size_t text_width(std::string_view text);

using util::counted;
using util::printable;

// The text as one word of a shell, quoted if necessary.
[[nodiscard]] std::string shell_word(const std::string& text);

// At most `width` characters: cut at the end, or at the front for paths, whose end says more.
[[nodiscard]] std::string cut_end(std::string_view text, size_t width, const util::Glyphs& glyphs);
[[nodiscard]] std::string cut_front(std::string_view text, size_t width, const util::Glyphs& glyphs);

[[nodiscard]] std::string pad_right(std::string text, size_t width);
[[nodiscard]] std::string pad_left(std::string_view text, size_t width);

// Items one after another, wrapped at the style's width; every line after the first begins with `indent` blanks. A
// wider item is broken between words.
[[nodiscard]] std::string wrap(const std::string& head, size_t indent, const std::vector<std::string>& items,
                               const TextStyle& style);

// Text wrapped between words at the style's width. Every line begins with `indent` blanks. What does not fit into most_lines is cut off.
[[nodiscard]] std::string paragraph(std::string_view text, size_t indent, size_t most_lines, const TextStyle& style);

// "2026-11-21 14:02:11", in the reader's time zone.
[[nodiscard]] std::string date_text(int64_t realtime_ns);

}  // namespace mlrun::report
