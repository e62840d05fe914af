// SPDX-License-Identifier: Apache-2.0
// How far apart in time ranks begin a collective or mark that they have in common, on one clock.
#pragma once

#include <vector>

#include "runner/nodes/figures.h"

namespace mlrun::nodes {

// Compares the collectives that all merged ranks of a communicator have begun, and the marks that all ranks with marks of that name have
// begun. Adds to `ranks` how often each rank was last.
std::vector<SkewFigures> skews_of(const Alignment& alignment, std::vector<RankFigures>& ranks);

}  // namespace mlrun::nodes
