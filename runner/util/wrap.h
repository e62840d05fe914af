// SPDX-License-Identifier: Apache-2.0
// Text in lines that fit a terminal. Widths count characters, not bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mlrun::util {

// The width of the descriptor's terminal; else COLUMNS; else `otherwise`.
[[nodiscard]] size_t terminal_width(int descriptor, size_t otherwise);

// Breaks `text` between words into lines of at most `width` characters, after `lead` in the first one and as many
// blanks in the others; each ends with a newline. A newline in `text` begins a line. A too wide word stays whole: it
// may be a path to copy.
[[nodiscard]] std::string wrapped(std::string_view text, size_t width, std::string_view lead = {});

}  // namespace mlrun::util
