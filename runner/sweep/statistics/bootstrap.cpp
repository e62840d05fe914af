// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/statistics/bootstrap.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>
#include <random>
#include <utility>

#include "runner/sweep/statistics/student.h"

namespace mlrun::sweep {
namespace {

constexpr size_t kResamples = 2000;
constexpr uint64_t kSeed = 20'261'126;

// Where a quantile of n values is: between the values `index` and `index + 1`.
struct Place {
  size_t index = 0;
  double fraction = 0;
};

Place place_of(size_t n, double quantile) {
  const double place = quantile * static_cast<double>(n - 1);
  const auto index = std::min(static_cast<size_t>(place), n - 1);
  return {index, place - static_cast<double>(index)};
}

double between(double low, double high, double fraction) { return low + fraction * (high - low); }

// Reorders `values`.
double quantile_of_unsorted(std::vector<double>& values, double quantile) {
  const auto [index, fraction] = place_of(values.size(), quantile);
  const auto low = values.begin() + static_cast<ptrdiff_t>(index);
  std::nth_element(values.begin(), low, values.end());
  return low + 1 == values.end() ? *low : between(*low, *std::min_element(low + 1, values.end()), fraction);
}

// BCa's acceleration: the skewness of the quantile over the samples that lack one value each.
double acceleration_of(std::span<const double> sorted, double quantile) {
  const size_t n = sorted.size();
  const auto [index, fraction] = place_of(n - 1, quantile);
  std::vector<double> without(n);
  for (size_t left_out = 0; left_out < n; ++left_out) {
    const auto value = [&](size_t i) { return sorted[std::min(i < left_out ? i : i + 1, n - 1)]; };
    without[left_out] = between(value(index), value(index + 1), fraction);
  }
  const double mean = moments(without).mean;
  double squares = 0, cubes = 0;
  for (const double value : without) {
    const double difference = mean - value;
    squares += difference * difference;
    cubes += difference * difference * difference;
  }
  return squares > 0 ? cubes / (6 * std::pow(squares, 1.5)) : 0;
}

}  // namespace

double quantile_of(std::span<const double> sorted, double quantile) {
  const auto [index, fraction] = place_of(sorted.size(), quantile);
  return between(sorted[index], sorted[std::min(index + 1, sorted.size() - 1)], fraction);
}

Ranks ranks_of(std::span<uint32_t> indices, double quantile) {
  const size_t index = place_of(indices.size(), quantile).index;
  const auto low = indices.begin() + static_cast<ptrdiff_t>(index);
  std::nth_element(indices.begin(), low, indices.end());
  return {*low, low + 1 == indices.end() ? *low : *std::min_element(low + 1, indices.end())};
}

Interval bca_interval(std::span<const double> sorted, double quantile, std::span<const Ranks> resamples, double level) {
  const double estimate = quantile_of(sorted, quantile);
  const double fraction = place_of(sorted.size(), quantile).fraction;
  std::vector<double> replicates(resamples.size());
  std::transform(resamples.begin(), resamples.end(), replicates.begin(),
                 [&](const Ranks& ranks) { return between(sorted[ranks.low], sorted[ranks.high], fraction); });
  const auto less = std::count_if(replicates.begin(), replicates.end(), [&](double value) { return value < estimate; });
  const auto same = std::count(replicates.begin(), replicates.end(), estimate);
  // Replicates equal to the estimate count half as below it: with few values, the median often equals it.
  const double below = static_cast<double>(less) + static_cast<double>(same) / 2;
  const double share = below / static_cast<double>(replicates.size());
  if (share <= 0 || share >= 1) {
    const auto [least, most] = std::minmax_element(replicates.begin(), replicates.end());
    return {*least, *most};
  }
  const boost::math::normal normal;
  const double bias = boost::math::quantile(normal, share);
  const double acceleration = acceleration_of(sorted, quantile);
  const auto end = [&](double probability) {
    const double z = bias + boost::math::quantile(normal, probability);
    return quantile_of_unsorted(replicates, boost::math::cdf(normal, bias + z / (1 - acceleration * z)));
  };
  return {end((1 - level) / 2), end((1 + level) / 2)};
}

const std::vector<Ranks>& resampled_ranks(size_t n, double quantile) {
  static std::mutex mutex;
  static std::map<std::pair<size_t, double>, std::vector<Ranks>> made;
  const std::scoped_lock lock(mutex);
  std::vector<Ranks>& ranks = made[{n, quantile}];
  if (!ranks.empty()) return ranks;
  std::mt19937_64 random(kSeed);  // NOLINT(bugprone-random-generator-seed): the same result every time
  std::vector<uint32_t> indices(n);
  ranks.reserve(kResamples);
  for (size_t i = 0; i < kResamples; ++i) {
    for (uint32_t& index : indices) index = static_cast<uint32_t>((random() >> 32) * n >> 32);
    ranks.push_back(ranks_of(indices, quantile));
  }
  return ranks;
}

}  // namespace mlrun::sweep
