// SPDX-License-Identifier: Apache-2.0
// --include and --exclude, from what the user wrote to what the traced processes read in the arena
// (runner/events/path_rules.h).
#pragma once

#include <string>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::launch {

struct PathRules {
  std::vector<std::string> include, exclude;  // as given
  [[nodiscard]] bool empty() const { return include.empty() && exclude.empty(); }
};

// Expands one pattern to absolute ones. A pattern without a slash matches names in any folder; one with a slash is
// relative to `directory` unless it begins with a slash or a double star. If the folders before its first wildcard
// contain symbolic links, the resolved pattern is added. Fails on an empty pattern.
Result<std::vector<std::string>> absolute_patterns(const std::string& pattern, const std::string& directory);

// The bytes stored after the control page; empty without rules. Relative patterns begin at `directory`.
Result<std::string> encoded_path_rules(const PathRules& rules, const std::string& directory);

}  // namespace mlrun::launch
