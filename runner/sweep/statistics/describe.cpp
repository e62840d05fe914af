// SPDX-License-Identifier: Apache-2.0
// What one series of runs is like.
#include <algorithm>
#include <cmath>
#include <utility>

#include "runner/sweep/statistics/bootstrap.h"
#include "runner/sweep/statistics/shape.h"
#include "runner/sweep/statistics/statistics.h"
#include "runner/sweep/statistics/student.h"

namespace mlrun::sweep {
namespace {

constexpr size_t kFewestForBootstrap = 10;

std::vector<double> sorted_values(const Series& series) {
  std::vector<double> sorted;
  sorted.reserve(series.size());
  for (const Observation& observation : series) {
    if (std::isfinite(observation.value)) sorted.push_back(observation.value);
  }
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

std::optional<Interval> median_interval(const std::vector<double>& sorted, double level) {
  if (sorted.size() < kFewestForBootstrap) return std::nullopt;
  return bca_interval(sorted, 0.5, resampled_ranks(sorted.size(), 0.5), level);
}

struct Centre {
  double value = 0;
  Interval interval;
  Method method = Method::kNone;
};

// The geometric mean with its interval, or the mean if a value is not above 0. Requires: two or more values.
Centre centre_of(const std::vector<double>& sorted, double level) {
  const auto n = static_cast<double>(sorted.size());
  const bool is_log = sorted.front() > 0;
  std::vector<double> values = sorted;
  if (is_log)
    std::transform(values.begin(), values.end(), values.begin(), [](double value) { return std::log(value); });
  const Moments m = moments(values);
  const Interval interval = t_interval({m.mean, m.sd / std::sqrt(n), n - 1}, level);
  if (!is_log) return {m.mean, interval, Method::kT};
  return {std::exp(m.mean), {std::exp(interval.low), std::exp(interval.high)}, Method::kLogT};
}

}  // namespace

Description describe(const Series& series, double level) {
  const std::vector<double> sorted = sorted_values(series);
  Description result;
  result.n = sorted.size();
  if (sorted.empty()) return result;
  const Moments m = moments(sorted);
  result.mean = m.mean;
  result.sd = m.sd;
  result.min = sorted.front();
  result.max = sorted.back();
  result.median = quantile_of(sorted, 0.5);
  if (result.n < 2) return result;
  const Centre centre = centre_of(sorted, level);
  result.interval = centre.interval;
  result.method = centre.method;
  result.median_interval = median_interval(sorted, level);
  result.drift = common_drift({&series, 1}, level);
  result.is_bimodal = is_bimodal(sorted);
  return result;
}

std::optional<double> half_width(const Series& series, double level) {
  const std::vector<double> sorted = sorted_values(series);
  if (sorted.size() < 2) return std::nullopt;
  const Centre centre = centre_of(sorted, level);
  const double half = (centre.interval.high - centre.interval.low) / 2;
  if (half == 0) return 0;
  if (centre.value == 0) return std::nullopt;
  return half / std::abs(centre.value);
}

bool is_within(const Series& series, double within, int32_t at_least, double level) {
  if (std::ssize(series) < at_least) return false;
  const std::optional<double> half = half_width(series, level);
  return half && *half <= within;
}

const char* method_name(Method method) {
  switch (method) {
    case Method::kNone: return "none";
    case Method::kLogT: return "t, logs";
    case Method::kT: return "t";
    case Method::kPairedLogT: return "paired t, logs";
    case Method::kPairedT: return "paired t";
    case Method::kWelchLogT: return "Welch t, logs";
    case Method::kWelchT: return "Welch t";
    case Method::kBca: return "BCa";
  }
  return "";
}

}  // namespace mlrun::sweep
