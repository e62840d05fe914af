// SPDX-License-Identifier: Apache-2.0
// Rules on this machine: nodes that exist, have memory and are allowed. The kernel drops others silently as long as one is left.
#pragma once

#include <string>
#include <vector>

#include "runner/placement/rule.h"
#include "runner/util/result.h"

namespace mlrun::placement {

// The rules of --place, each a rule or a TOML file, and of --mem-kind ("": not given), in their order, with their nodes.
Result<std::vector<Rule>> find_rules(const std::vector<std::string>& places, const std::string& mem_kind);

// What the traced processes read in the arena (runner/events/placement.h). Fails if there are too many rules.
Result<std::string> encoded_rules(const std::vector<Rule>& rules);

}  // namespace mlrun::placement
