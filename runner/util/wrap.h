// SPDX-License-Identifier: Apache-2.0
// Text in lines that fit a terminal. Widths count characters, not bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mlrun::util {

// The width of the descriptor's terminal; without a terminal that of the variable COLUMNS, else `otherwise`.
[[nodiscard]] size_t terminal_width(int descriptor, size_t otherwise);

// Breaks `text` between words into lines of at most `width` characters; each ends with a newline. The first line begins
// with `lead`, the following ones with as many blanks. A newline in `text` begins a line. A word that is too wide is not
// broken: it may be a path to copy.
[[nodiscard]] std::string wrapped(std::string_view text, size_t width, std::string_view lead = {});

}  // namespace mlrun::util
