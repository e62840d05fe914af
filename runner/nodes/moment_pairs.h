// SPDX-License-Identifier: Apache-2.0
// The bounds on the clock offset of each pair of nodes that follow from their common moments (moments.h).
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

// Keyed by pairs of nodes, the lower number first. Each node is compared with at most eight nodes of lower numbers: where many nodes have the
// same moments, not every pair of them need be compared.
std::map<std::pair<size_t, size_t>, MomentBounds> bounds_of_pairs(Moments& moments,
                                                                  const std::vector<NodeTrace>& nodes);

}  // namespace mlrun::nodes
