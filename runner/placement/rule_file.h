// SPDX-License-Identifier: Apache-2.0
// Rules in a file of TOML: one [[rule]] each, in their order.
//
//   [[rule]]
//   size = ">= 1M"        # or "64K..1M"
//   mmap = true           # the program's own mappings instead of its blocks
//   library = "libtorch*" # or function = "GLOB", or site = ["BUILDID+OFFSET", ...], or several: site = [[...], [...]]
//   process = "worker"    # or "main", or "command GLOB"
//   to = "node 1"
//   strict = true
//   budget = "16G"
//   huge = true
//   heap = "memkind"      # for comparison: a region of the budget, by memkind_create_fixed
//
// `mlrun advise` writes a table [advice]. It changes no rule: only the remark about libraries of another build comes from it.
#pragma once

#include <string>
#include <vector>

#include "runner/placement/rule.h"
#include "runner/util/result.h"

namespace mlrun::placement {

// An error names the file and, if it is about a line, the line.
Result<std::vector<Rule>> read_rule_file(const std::string& path);

}  // namespace mlrun::placement
