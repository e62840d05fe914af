// SPDX-License-Identifier: Apache-2.0
// The text style for a stream: width of its terminal, colours, characters.
#pragma once

#include <cstdio>

#include "runner/report/text/text_style.h"

namespace mlrun::report {

// A terminal: its width (else COLUMNS, else 100); colour unless NO_COLOR is set or TERM is dumb. Anything else: 100
// columns, no colour. Unicode when the locale's character set is UTF-8 (LC_ALL, LC_CTYPE, LANG).
[[nodiscard]] TextStyle style_of(std::FILE* stream);

[[nodiscard]] bool is_terminal(std::FILE* stream);

}  // namespace mlrun::report
