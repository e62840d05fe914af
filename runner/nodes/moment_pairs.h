// SPDX-License-Identifier: Apache-2.0
// The bounds that moments in common give for the clocks of pairs of nodes.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "runner/nodes/clock_fit.h"
#include "runner/nodes/moments.h"
#include "runner/nodes/node_trace.h"

namespace mlrun::nodes {

struct MomentBounds {
  OffsetBounds bounds;  // for the clock of the second node by that of the first
  size_t collectives = 0, marks = 0;
};

// By pairs of nodes, the lower number first. Each node is compared with at most eight before it: what all of many nodes do together need not
// be compared between each two of them.
std::map<std::pair<size_t, size_t>, MomentBounds> bounds_of_pairs(Moments& moments,
                                                                  const std::vector<NodeTrace>& nodes);

}  // namespace mlrun::nodes
