// SPDX-License-Identifier: Apache-2.0
// Rules on this machine: nodes that exist, have memory and are allowed. The kernel drops others silently as long as one is left.
#pragma once

#include <string>
#include <vector>

#include "runner/placement/rule.h"
#include "runner/util/result.h"

namespace mlrun::placement {

struct RuleTexts {
  std::vector<std::string> place;  // each a rule or a TOML file
  std::string mem_kind, pmem;      // "": not given
};

// The rules in their order, that of --mem-kind last, with their nodes and folders. Fails without what a rule needs (nodes, memkind, pmem).
Result<std::vector<Rule>> find_rules(const RuleTexts& texts);

// What the traced processes read in the arena (runner/events/placement.h). Fails if there are too many rules.
Result<std::string> encoded_rules(const std::vector<Rule>& rules);

}  // namespace mlrun::placement
