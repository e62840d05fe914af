// SPDX-License-Identifier: Apache-2.0
#include "runner/report/text/terminal.h"

#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "runner/util/wrap.h"

namespace mlrun::report {
namespace {

constexpr size_t kNarrowest = 40, kWidest = 400;

// "" if the variable is not set.
std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool is_utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = variable(name);
    if (value.empty()) continue;
    const size_t point = value.find('.');
    if (point == std::string_view::npos) return false;
    const std::string_view charset = value.substr(point + 1, value.find('@') - point - 1);
    return ::strncasecmp(charset.data(), "utf-8", 5) == 0 || ::strncasecmp(charset.data(), "utf8", 4) == 0;
  }
  return false;
}

}  // namespace

TextStyle style_of(std::FILE* stream) {
  TextStyle style;
  style.glyphs.unicode = is_utf8_locale();
  if (!is_terminal(stream)) return style;
  style.width = std::clamp(util::terminal_width(::fileno(stream), TextStyle{}.width), kNarrowest, kWidest);
  style.colour = variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  return style;
}

bool is_terminal(std::FILE* stream) { return ::isatty(::fileno(stream)) == 1; }

}  // namespace mlrun::report
