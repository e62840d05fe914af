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

// The absolute patterns that one pattern stands for. One without a slash is for names in any folder, one with a slash
// begins at `directory` unless it begins with a slash or a double star. Where the folders before its first wildcard are
// reached through symbolic links there is a second one, without them. Fails on a pattern that says nothing.
Result<std::vector<std::string>> absolute_patterns(const std::string& pattern, const std::string& directory);

// The bytes that go behind the control page; empty without rules. Relative patterns begin at `directory`.
Result<std::string> encoded_path_rules(const PathRules& rules, const std::string& directory);

}  // namespace mlrun::launch
