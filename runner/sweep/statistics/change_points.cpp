// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/statistics/change_points.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "runner/sweep/statistics/student.h"

namespace mlrun::sweep {
namespace {

struct Range {
  size_t begin = 0, end = 0;
};

struct Candidate {
  size_t index = 0;
  double divergence = -std::numeric_limits<double>::infinity();
};

// Sums of |x_i - x_j| over rectangles of pairs.
class Distances {
 public:
  explicit Distances(std::span<const double> values) : width_(values.size() + 1), sums_(width_ * width_) {
    for (size_t i = 1; i < width_; ++i) {
      for (size_t j = 1; j < width_; ++j) {
        at(i, j) = std::abs(values[i - 1] - values[j - 1]) + at(i - 1, j) + at(i, j - 1) - at(i - 1, j - 1);
      }
    }
  }

  double between(Range a, Range b) const {
    return at(a.end, b.end) - at(a.begin, b.end) - at(a.end, b.begin) + at(a.begin, b.begin);
  }
  double within(Range a) const { return between(a, a) / 2; }

 private:
  double& at(size_t i, size_t j) { return sums_[i * width_ + j]; }
  double at(size_t i, size_t j) const { return sums_[i * width_ + j]; }

  size_t width_;
  std::vector<double> sums_;
};

// The energy distance of two neighbouring ranges (Matteson and James 2014).
double divergence_of(const Distances& distances, Range left, Range right) {
  const auto n = static_cast<double>(left.end - left.begin);
  const auto m = static_cast<double>(right.end - right.begin);
  double result = 2 / (m + n) * distances.between(left, right);
  if (n > 1) result -= 2 * m / (m + n) / (n - 1) * distances.within(left);
  if (m > 1) result -= 2 * n / (m + n) / (m - 1) * distances.within(right);
  return result;
}

Candidate best_split(const Distances& distances, Range range) {
  Candidate best;
  for (size_t split = range.begin + 1; split < range.end; ++split) {
    for (size_t end = split + 1; end <= range.end; ++end) {
      const double divergence = divergence_of(distances, {range.begin, split}, {split, end});
      if (divergence > best.divergence) best = {split, divergence};
    }
  }
  return best;
}

// The t test of equal variances. As in Otava the deviation is that of a population, which suits series of a few values.
ChangePoint tested(std::span<const double> values, size_t begin, size_t index, size_t end) {
  const Moments left = moments(values.subspan(begin, index - begin));
  const Moments right = moments(values.subspan(index, end - index));
  ChangePoint result{index, left.mean, right.mean, 1};
  const auto n = static_cast<double>(left.n);
  const auto m = static_cast<double>(right.n);
  const double degrees = n + m - 2;
  if (degrees <= 0) return result;
  const double squares = left.sd * left.sd * (n - 1) * (n - 1) / n + right.sd * right.sd * (m - 1) * (m - 1) / m;
  const double error = std::sqrt(squares / degrees * (1 / n + 1 / m));
  result.p = two_sided_p({right.mean - left.mean, error, degrees});
  return result;
}

// Tests the i-th of the sorted `points` on the values between its two neighbours.
ChangePoint tested_between(std::span<const double> values, const std::vector<size_t>& points, size_t i) {
  const size_t begin = i == 0 ? 0 : points[i - 1];
  const size_t end = i + 1 == points.size() ? values.size() : points[i + 1];
  return tested(values, begin, points[i], end);
}

// Splits the values of one window again and again, at the greatest divergence, while the halves differ.
std::vector<size_t> splits_of(std::span<const double> values, double greatest_p) {
  const Distances distances(values);
  std::vector<size_t> points;
  while (true) {
    Candidate best;
    Range range_of_best;
    for (size_t i = 0; i <= points.size(); ++i) {
      const Range range{i == 0 ? 0 : points[i - 1], i == points.size() ? values.size() : points[i]};
      const Candidate candidate = best_split(distances, range);
      if (candidate.divergence <= best.divergence) continue;
      best = candidate;
      range_of_best = range;
    }
    if (best.index == 0) return points;
    if (!(tested(values, range_of_best.begin, best.index, range_of_best.end).p <= greatest_p)) return points;
    points.insert(std::lower_bound(points.begin(), points.end(), best.index), best.index);
  }
}

// Candidates of all windows, at a weaker level than requested. change_points() then tests them against their neighbours.
std::vector<size_t> weak_points(std::span<const double> values, size_t window, double greatest_p) {
  std::vector<size_t> points;
  for (size_t start = 0; start < values.size();) {
    const std::span<const double> part = values.subspan(start, std::min(window, values.size() - start));
    const std::vector<size_t> found = splits_of(part, greatest_p);
    for (const size_t index : found) points.push_back(start + index);
    start = std::max(found.empty() ? 0 : start + found.back(), start + window / 2);
  }
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

double change_of(const ChangePoint& point) {
  const auto relative = [](double from, double to) { return from == 0 ? 0 : std::abs(to / from - 1); };
  return std::max(relative(point.before, point.after), relative(point.after, point.before));
}

// The point to leave out next: the least significant one, or the smallest change. Nothing if all may stay.
std::optional<size_t> weakest(const std::vector<ChangePoint>& points, const ChangePointOptions& options) {
  const auto by_p = std::max_element(points.begin(), points.end(), [](auto& a, auto& b) { return a.p < b.p; });
  if (!(by_p->p < options.greatest_p)) return by_p - points.begin();
  const auto by_change =
      std::min_element(points.begin(), points.end(), [](auto& a, auto& b) { return change_of(a) < change_of(b); });
  if (change_of(*by_change) > options.least_change) return std::nullopt;
  return by_change - points.begin();
}

}  // namespace

std::vector<ChangePoint> change_points(std::span<const double> values, const ChangePointOptions& options) {
  std::vector<size_t> indices = weak_points(values, options.window, std::min(10 * options.greatest_p, 0.5));
  while (!indices.empty()) {
    std::vector<ChangePoint> points;
    for (size_t i = 0; i < indices.size(); ++i) points.push_back(tested_between(values, indices, i));
    const std::optional<size_t> out = weakest(points, options);
    if (!out) return points;
    indices.erase(indices.begin() + static_cast<ptrdiff_t>(*out));
  }
  return {};
}

}  // namespace mlrun::sweep
