// SPDX-License-Identifier: Apache-2.0
// Gains and a prediction from calibration runs: everything on the fast memory, everything on the slow one, and single sites on the fast
// one with everything else on the slow one. The gains of sites are assumed to add up; measured time that their sum does not explain
// widens the interval. Where not everything fits on the fast memory, nothing measures whether they add up, and the interval is wider.
#pragma once

#include <map>
#include <vector>

#include "runner/sweep/advise/advice.h"
#include "runner/sweep/statistics/statistics.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

inline constexpr size_t kLeastBlocks = 3;  // of runs, for an interval

struct Calibration {
  Series near, far;                // near: empty if no run has everything on the fast memory
  std::map<size_t, Series> alone;  // runs with one site alone on the fast memory, by its number
  std::vector<double> weights;     // Site::weight of all sites
  double weight_elsewhere = 0;     // of blocks that no choice can move
};

// Seconds that each site saves on the fast memory, never below 0. Time that all sites save beyond those measured alone is divided among
// the other sites by weight. If `near` is empty, they save as much per weight as those measured alone.
std::vector<double> site_gains(const Calibration& calibration);

// How many blocks have a run of every configuration.
size_t complete_blocks(const Calibration& calibration);

// Fails if these are fewer than kLeastBlocks.
Status check_blocks(const Calibration& calibration);

// Requires: check_blocks().
Result<Prediction> predict(const Calibration& calibration, const std::vector<size_t>& chosen);

}  // namespace mlrun::sweep
