// SPDX-License-Identifier: Apache-2.0
// Gains and a prediction from calibration runs: everything on the fast memory, everything on the slow one, and single sites on the fast
// one with everything else on the slow one. The gains of sites are assumed to add up; measured time that their sum does not explain
// widens the interval.
#pragma once

#include <vector>

#include "runner/sweep/advise/advice.h"
#include "runner/sweep/statistics/statistics.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

struct Calibration {
  Series near, far;
  std::vector<Series> alone;    // runs with one of the first sites alone on the fast memory
  std::vector<double> weights;  // Site::weight of all sites
  double weight_elsewhere = 0;  // of blocks that no choice can move
};

// Seconds that each site saves on the fast memory, never below 0. Time that all sites save beyond those measured alone is divided among
// the other sites by weight.
std::vector<double> site_gains(const Calibration& calibration);

// Fails if fewer than three blocks of runs are complete.
Result<Prediction> predict(const Calibration& calibration, const std::vector<size_t>& chosen);

}  // namespace mlrun::sweep
