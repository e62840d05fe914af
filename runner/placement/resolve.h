// SPDX-License-Identifier: Apache-2.0
// Resolves rules on this machine. Fails for nodes that do not exist, have no memory or are not allowed: the kernel drops those silently
// as long as one is left.
#pragma once

#include <string>
#include <vector>

#include "runner/placement/rule.h"
#include "runner/util/id_list.h"
#include "runner/util/result.h"

namespace mlrun::placement {

struct RuleTexts {
  std::vector<std::string> place;        // each a rule or a TOML file
  std::string mem_kind, pmem;            // "": not given
  uint64_t file_bytes_max = UINT64_MAX;  // the command's limit of files (ulimit -f)
};

// The rules in their order, that of --mem-kind last, without nodes and folders. Fails for what no machine could run; for a command that
// another machine runs.
Result<std::vector<Rule>> read_rules(const RuleTexts& texts);

// The same with their nodes and folders. Fails without what a rule needs (nodes, memkind, pmem, huge pages).
Result<std::vector<Rule>> find_rules(const RuleTexts& texts);

// Fails if this kernel lacks the policy that the rule needs for these nodes.
Status check_kernel(const Rule& rule, const util::IdList& nodes);

// What the rule asks for of its nodes: "preferred", "bind", "interleave" or "ratio"; empty: it names none.
const char* policy_of(const Rule& rule);

// The rules as bytes that the traced processes read in the arena (runner/events/placement.h). Fails if there are too many rules.
Result<std::string> encoded_rules(const std::vector<Rule>& rules);

}  // namespace mlrun::placement
