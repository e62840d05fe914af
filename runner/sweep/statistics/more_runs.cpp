// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/statistics/more_runs.h"

#include <algorithm>
#include <cmath>

#include "runner/sweep/statistics/student.h"

namespace mlrun::sweep {
namespace {

constexpr double kLikely = 0.8;
constexpr int64_t kTooMany = 1'000'000;
constexpr int64_t kFewest = 3;

// The chance of a verdict after n runs a side.
double chance(double difference, const Spread& spread, Interval margin, int64_t n, double alpha) {
  const double degrees = spread.degrees * static_cast<double>(n - 1);
  const double error = spread.sd / std::sqrt(static_cast<double>(n));
  const Estimate estimate{difference, error, degrees};
  const double differs = t_above(t_quantile(1 - alpha / 2, degrees) - std::abs(t_statistic(estimate, 0)), degrees);
  const double needed = t_quantile(1 - alpha, degrees);
  const double equal = t_above(needed - t_statistic(estimate, margin.low), degrees) +
                       t_above(needed + t_statistic(estimate, margin.high), degrees) - 1;
  return std::max(differs, equal);
}

}  // namespace

std::optional<int64_t> more_runs(double difference, const Spread& spread, Interval margin, int64_t n, double alpha) {
  if (!std::isfinite(spread.sd) || !std::isfinite(difference)) return std::nullopt;
  const auto is_enough = [&](int64_t runs) { return chance(difference, spread, margin, runs, alpha) >= kLikely; };
  int64_t enough = std::max(kFewest, n + 1);
  int64_t too_few = enough - 1;
  while (!is_enough(enough)) {
    too_few = enough;
    enough *= 2;
    if (enough > kTooMany) return std::nullopt;
  }
  while (enough - too_few > 1) {
    const int64_t middle = too_few + (enough - too_few) / 2;
    (is_enough(middle) ? enough : too_few) = middle;
  }
  return enough - n;
}

}  // namespace mlrun::sweep
