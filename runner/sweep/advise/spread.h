// SPDX-License-Identifier: Apache-2.0
// Blocks over a fast and a slow node in the ratio of their bandwidths: where a program needs more than the fast one has, both together have
// more than either. Whether that is so is measured (--calibrate).
#pragma once

#include <string>

#include "runner/util/result.h"

namespace mlrun::sweep {

struct NodeSpread {
  std::string target;     // of a rule: "4:1 node 0,1"; empty: none
  double fast_share = 1;  // of the pages, on the fast node
  std::string why;        // why there is none
};

// `fast`, `slow`: targets of rules. `ratio`: fast to slow, such as 4:1; empty: by the bandwidths that firmware reports (HMAT). Fails for a
// ratio that is none, or has no two nodes to be about. `system`: /sys, but for tests.
Result<NodeSpread> find_spread(const std::string& fast, const std::string& slow, const std::string& ratio,
                               const std::string& system = "/sys");

}  // namespace mlrun::sweep
