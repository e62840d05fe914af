// SPDX-License-Identifier: Apache-2.0
#include "runner/bench/estimate.h"

#include <algorithm>
#include <cmath>

#include "runner/util/median.h"

namespace mlrun::bench {

namespace {

// How many of the sorted figures are cut at each end for the interval. The probability that the true median lies among
// those cut is at most 2.5 % per end.
size_t left_out(size_t figures) {
  const auto n = static_cast<double>(figures);
  double chance = std::pow(0.5, n), sum = 0;
  size_t out = 0;
  for (size_t k = 0; k < figures / 2; k++) {
    sum += chance;
    if (sum > 0.025) break;
    out = k;
    chance *= (n - static_cast<double>(k)) / (static_cast<double>(k) + 1);
  }
  return out;
}

}  // namespace

Estimate estimate(std::vector<double> figures) {
  std::sort(figures.begin(), figures.end());
  const size_t n = figures.size(), out = left_out(n);
  return {util::median(figures), figures[out], figures[n - 1 - out], n};
}

}  // namespace mlrun::bench
