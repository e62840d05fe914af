// SPDX-License-Identifier: Apache-2.0
#include "runner/launch/secrets.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "runner/util/text.h"

namespace mlrun::launch {

namespace {

// "scheme://user:password@host/path": the part between the slashes and the last "@" before the next slash.
std::string without_user(const std::string& argument) {
  const size_t scheme = argument.find("://");
  if (scheme == std::string::npos) return argument;
  const size_t begin = scheme + 3;
  const size_t end = std::min(argument.find_first_of("/?#", begin), argument.size());
  const size_t at = argument.substr(0, end).rfind('@');
  if (at == std::string::npos || at < begin) return argument;
  return argument.substr(0, begin) + std::string(kHidden) + argument.substr(at);
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
  static constexpr std::array<std::string_view, 6> kWords = {"KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "AUTH"};
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
    if (is_value && !argument.starts_with('-')) {
      text += kHidden;
      is_value = false;
    } else {
      text += util::escaped_utf8(shown(argument, is_value));
    }
  }
  return text;
}

}  // namespace mlrun::launch
