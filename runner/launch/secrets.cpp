// SPDX-License-Identifier: Apache-2.0
#include "runner/launch/secrets.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "runner/util/text.h"

namespace mlrun::launch {

namespace {

// "scheme://user:password@host/path": of each address what stands before its last "@". A password may hold anything, a
// slash too, so that the address ends where another begins or at what no address has; an "@" in a path hides too much.
std::string without_user(const std::string& argument) {
  static constexpr std::string_view kScheme = "://";
  std::string shown;
  size_t done = 0;
  for (size_t scheme = argument.find(kScheme); scheme != std::string::npos; scheme = argument.find(kScheme, done)) {
    const size_t begin = scheme + kScheme.size();
    const size_t next = std::min(argument.find(kScheme, begin), argument.size());
    const size_t end = std::min(argument.find_first_of(" \t\n", begin), next);
    const size_t at = std::string_view(argument).substr(begin, end - begin).rfind('@');
    shown += argument.substr(done, begin - done);
    if (at != std::string::npos) shown += kHidden;
    done = at == std::string::npos ? begin : begin + at;
  }
  return shown + argument.substr(done);
}

// `takes_next`: the argument is such a name alone, so that its value comes next.
std::string shown(const std::string& argument, bool& takes_next) {
  takes_next = false;
  if (!looks_secret(argument)) return without_user(argument);
  for (size_t at = 0; (at = argument.find_first_of("=: \t\n", at)) != std::string::npos; ++at) {
    if (looks_secret(std::string_view(argument).substr(0, at))) {
      return without_user(argument.substr(0, at + 1)) + std::string(kHidden);
    }
  }
  takes_next = argument.starts_with('-');
  return without_user(argument);
}

}  // namespace

bool looks_secret(std::string_view name) {
  static constexpr std::array<std::string_view, 7> kWords = {"KEY",   "TOKEN",      "SECRET", "PASSW",
                                                             "PASSP", "CREDENTIAL", "AUTH"};
  std::string capitals(name);
  std::transform(capitals.begin(), capitals.end(), capitals.begin(), [](unsigned char c) { return std::toupper(c); });
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return capitals.find(word) != std::string::npos; });
}

std::string shown_arguments(const std::vector<std::string>& arguments) {
  std::string text;
  bool is_value = false;
  for (const std::string& argument : arguments) {
    if (!text.empty()) text += ' ';
    // A secret may begin with '-' (base64url); with two it is the next option.
    if (is_value && !argument.starts_with("--")) {
      text += kHidden;
      is_value = false;
    } else {
      text += util::escaped_utf8(shown(argument, is_value));
    }
  }
  return text;
}

}  // namespace mlrun::launch
