// SPDX-License-Identifier: Apache-2.0
// A median with its 95 % confidence interval for any distribution: order statistics, by the binomial distribution.
#pragma once

#include <cstddef>
#include <vector>

namespace mlrun::bench {

struct Estimate {
  double median = 0;
  double low = 0, high = 0;  // with fewer than six figures: the least and the greatest, a weaker interval
  size_t figures = 0;
};

// Requires: at least one figure.
Estimate estimate(std::vector<double> figures);

// The figure is not distinguishable from zero, or known only to a factor of about two.
inline bool is_uncertain(const Estimate& e) { return e.low <= 0 || e.high - e.low > e.median; }

// Too imprecise even for an estimate.
inline bool is_useless(const Estimate& e) { return e.median <= 0 || e.high - e.low > 3 * e.median; }

}  // namespace mlrun::bench
