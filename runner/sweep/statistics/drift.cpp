// SPDX-License-Identifier: Apache-2.0
// The drift of a figure over the order of runs: a straight line through logarithms, by least squares.
#include <algorithm>
#include <cmath>
#include <vector>

#include "runner/sweep/statistics/statistics.h"
#include "runner/sweep/statistics/student.h"

namespace mlrun::sweep {
namespace {

constexpr double kFewestDegrees = 3;
constexpr double kClearLevel = 0.99;

struct Sums {
  double xx = 0, xy = 0, yy = 0;
};

// Sums of squares and products of positions and values around their means.
Sums sums_of(const std::vector<double>& x, const std::vector<double>& y) {
  const double mean_x = moments(x).mean;
  const double mean_y = moments(y).mean;
  Sums sums;
  for (size_t i = 0; i < x.size(); ++i) {
    sums.xx += (x[i] - mean_x) * (x[i] - mean_x);
    sums.xy += (x[i] - mean_x) * (y[i] - mean_y);
    sums.yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  return sums;
}

}  // namespace

std::optional<Drift> common_drift(std::span<const Series> cells, double level) {
  Sums sums;
  double degrees = -1;
  bool is_log = true;
  for (const Series& cell : cells) {
    is_log = is_log && std::all_of(cell.begin(), cell.end(), [](const Observation& run) { return !(run.value <= 0); });
  }
  for (const Series& cell : cells) {
    std::vector<double> positions, values;
    for (const Observation& run : cell) {
      if (!std::isfinite(run.value)) continue;
      positions.push_back(run.position);
      values.push_back(is_log ? std::log(run.value) : run.value);
    }
    const double mean = moments(values).mean;
    if (values.size() < 2 || (!is_log && mean == 0)) continue;
    if (!is_log) {
      for (double& value : values) value /= mean;
    }
    const auto [xx, xy, yy] = sums_of(positions, values);
    sums.xx += xx;
    sums.xy += xy;
    sums.yy += yy;
    degrees += static_cast<double>(values.size()) - 1;
  }
  if (degrees < kFewestDegrees || sums.xx <= 0) return std::nullopt;
  const double slope = sums.xy / sums.xx;
  const double rest = std::max(0.0, sums.yy - slope * sums.xy);
  const Estimate estimate{slope, std::sqrt(rest / degrees / sums.xx), degrees};
  const auto as_fraction = [&](double value) { return is_log ? std::expm1(value) : value; };
  const Interval interval = t_interval(estimate, level);
  const Interval clear = t_interval(estimate, kClearLevel);
  return Drift{
      as_fraction(slope), {as_fraction(interval.low), as_fraction(interval.high)}, clear.low > 0 || clear.high < 0};
}

}  // namespace mlrun::sweep
