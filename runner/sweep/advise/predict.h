// SPDX-License-Identifier: Apache-2.0
// Gains and a prediction from calibration runs: everything on the fast memory, everything on the slow one, and single sites on the fast one
// with everything else on the slow one. Gains of sites are taken to add up; what they leave unexplained widens the interval.
#pragma once

#include <vector>

#include "runner/sweep/advise/advice.h"
#include "runner/sweep/statistics/statistics.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

struct Calibration {
  Series near, far;
  std::vector<Series> alone;    // of the first sites
  std::vector<double> weights;  // of all sites: bytes × time
};

// Seconds that each site saves on the fast memory, never below 0. What all sites save beyond the measured ones is shared out to the
// others by their weight.
std::vector<double> site_gains(const Calibration& calibration);

// Fails with fewer than three blocks.
Result<Prediction> predict(const Calibration& calibration, const std::vector<size_t>& chosen);

}  // namespace mlrun::sweep
