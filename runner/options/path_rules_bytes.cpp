// SPDX-License-Identifier: Apache-2.0
#include "runner/options/path_rules_bytes.h"

#include <filesystem>

#include <fmt/format.h>

#include "runner/events/arena.h"
#include "runner/events/path_rules.h"

namespace mlrun::launch {

namespace {

constexpr const char* kWild = "*?[\\";

// Escapes a path so that the pattern matches it literally.
std::string escaped(const std::string& path) {
  std::string pattern;
  for (const char letter : path) {
    if (std::string_view(kWild).find(letter) != std::string_view::npos) pattern += '\\';
    pattern += letter;
  }
  return pattern;
}

std::string without_slash_at_end(std::string path) {
  while (!path.empty() && path.back() == '/') path.pop_back();
  return path;
}

// A bracket set must be closed, and a backslash needs a character after it.
Status check(const std::string& pattern) {
  if (pattern.empty()) return fail("the pattern is empty");
  for (size_t at = 0; at < pattern.size(); at++) {
    if (pattern[at] == '\\') {
      at++;
      if (at == pattern.size()) return fail(pattern + ": no character follows the backslash");
    }
    if (pattern[at] != '[') continue;
    size_t first = at + 1;
    if (first < pattern.size() && pattern[first] == '!') first++;
    at = pattern.find(']', first + 1);
    if (at == std::string::npos) return fail(pattern + ": the bracket is not closed; \\[ means the letter itself");
  }
  return {};
}

// The pattern with symbolic links before its first wildcard resolved; empty: no difference.
std::string without_links(const std::string& pattern) {
  const size_t wild = pattern.find_first_of(kWild);
  const size_t end = wild == std::string::npos ? pattern.size() : pattern.rfind('/', wild);
  if (end == 0 || end == std::string::npos) return {};
  std::error_code error;
  const std::string place = pattern.substr(0, end);
  const std::string real = std::filesystem::canonical(place, error).string();
  return error || real == place ? std::string() : escaped(without_slash_at_end(real)) + pattern.substr(end);
}

}  // namespace

Result<std::vector<std::string>> absolute_patterns(const std::string& pattern, const std::string& directory) {
  if (Status checked = check(pattern); !checked) return tl::make_unexpected(checked.error());
  const std::string bare = without_slash_at_end(pattern);
  if (!pattern.starts_with('/') && bare.find('/') == std::string::npos) return std::vector<std::string>{"**/" + bare};
  if (pattern.starts_with("**")) return std::vector<std::string>{bare};
  const std::string from = pattern.starts_with('/') ? bare : escaped(directory) + "/" + bare;
  const std::string absolute = without_slash_at_end(std::filesystem::path(from).lexically_normal().string());
  std::vector<std::string> patterns{absolute};
  if (std::string real = without_links(absolute); !real.empty()) patterns.push_back(std::move(real));
  return patterns;
}

Result<std::string> encoded_path_rules(const PathRules& rules, const std::string& directory) {
  std::string bytes;
  const auto add = [&](const std::string& pattern, char kind, const char* option) -> Status {
    const auto patterns = absolute_patterns(pattern, directory);
    if (!patterns) return fail(fmt::format("{}: {}", option, patterns.error().text));
    for (const std::string& absolute : *patterns) bytes += kind + absolute + '\0';
    if (bytes.size() <= MLRUN_RULES_BYTES) return {};
    return fail(
        fmt::format("{}: all patterns together may have at most {} bytes; shorten them, for instance by * or **",
                    option, size_t{MLRUN_RULES_BYTES}));
  };
  Status status;
  for (const std::string& pattern : rules.exclude) {
    if (status) status = add(pattern, MLRUN_RULE_EXCLUDE, "--exclude");
  }
  for (const std::string& pattern : rules.include) {
    if (status) status = add(pattern, MLRUN_RULE_INCLUDE, "--include");
  }
  if (!status) return tl::make_unexpected(status.error());
  return bytes;
}

}  // namespace mlrun::launch
