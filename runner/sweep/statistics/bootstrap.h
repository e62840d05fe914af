// SPDX-License-Identifier: Apache-2.0
// The bootstrap of quantiles: bias-corrected and accelerated intervals (Efron 1987).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runner/sweep/statistics/statistics.h"

namespace mlrun::sweep {

// The quantile of sorted values, linear between them.
double quantile_of(std::span<const double> sorted, double quantile);

// The two neighbouring values of a resample between which its quantile is, as indices into the sorted values. The bootstrap of a quantile
// needs nothing else of a resample, and the ranks are the same for every series of n values.
struct Ranks {
  uint32_t low = 0, high = 0;
};
// `indices`: the values that one resample drew, as indices into the sorted values. The call reorders them.
Ranks ranks_of(std::span<uint32_t> indices, double quantile);

// The interval of the quantile of `sorted` (two values or more) from its resamples.
Interval bca_interval(std::span<const double> sorted, double quantile, std::span<const Ranks> resamples, double level);

// 2,000 resamples of n values, with a fixed seed. Made once for each n and quantile; any thread.
const std::vector<Ranks>& resampled_ranks(size_t n, double quantile);

}  // namespace mlrun::sweep
