// SPDX-License-Identifier: Apache-2.0
// Spreads blocks over a fast and a slow node in the ratio of their bandwidths. That helps a program that needs more bandwidth than the
// fast node has; --calibrate measures whether it does.
#pragma once

#include <string>

#include "runner/util/result.h"

namespace mlrun::sweep {

struct NodeSpread {
  std::string target;     // of a rule: "4:1 node 0,1"; empty: none
  double fast_share = 1;  // share of the pages that go to the fast node
  std::string why;        // why `target` is empty
};

// `fast`, `slow`: targets of rules. `ratio`: fast to slow, such as 4:1; empty: by the bandwidths that firmware reports (HMAT). Fails for
// a malformed `ratio`, or one that is given without exactly one fast and one slow node. `system`: /sys, except in tests.
Result<NodeSpread> find_spread(const std::string& fast, const std::string& slow, const std::string& ratio,
                               const std::string& system = "/sys");

}  // namespace mlrun::sweep
