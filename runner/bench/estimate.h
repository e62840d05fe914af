// SPDX-License-Identifier: Apache-2.0
// A median with its 95 % confidence interval, for any distribution of the figures: the interval's ends are figures, chosen
// by the binomial distribution.
#pragma once

#include <cstddef>
#include <vector>

namespace mlrun::bench {

struct Estimate {
  double median = 0;
  double low = 0, high = 0;  // fewer than six figures: minimum and maximum, which is less than 95 %
  size_t figures = 0;
};

// Requires: at least one figure.
Estimate estimate(std::vector<double> figures);

// Whether the figure cannot be distinguished from zero, or is known only to a factor of about two.
inline bool is_uncertain(const Estimate& e) { return e.low <= 0 || e.high - e.low > e.median; }

// Whether the figure is too imprecise even for a rough estimate.
inline bool is_useless(const Estimate& e) { return e.median <= 0 || e.high - e.low > 3 * e.median; }

}  // namespace mlrun::bench
