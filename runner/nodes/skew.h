// SPDX-License-Identifier: Apache-2.0
// How far apart ranks begin what they do together, on one clock.
#pragma once

#include <vector>

#include "runner/nodes/figures.h"

namespace mlrun::nodes {

// Collectives and marks that all merged ranks which have the communicator have begun. Adds to each rank how often it was last.
std::vector<SkewFigures> skews_of(const Alignment& alignment, std::vector<RankFigures>& ranks);

}  // namespace mlrun::nodes
