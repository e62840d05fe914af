// SPDX-License-Identifier: Apache-2.0
#include "runner/nodes/clock_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mlrun::nodes {

namespace {

// The worst crystals, and both clocks slewed apart by NTP at its limit of 500 ppm each.
constexpr double kDriftMost = 1.5e-3;

// Whether b is not needed, since c is on or beyond the line from a to b. `sign`: 1 for upper bounds, -1 for lower ones.
bool is_beyond(const OffsetBound& a, const OffsetBound& b, const OffsetBound& c, int sign) {
  const auto ab_at = static_cast<long double>(b.at_ns - a.at_ns), ac_at = static_cast<long double>(c.at_ns - a.at_ns);
  const auto ab = static_cast<long double>(b.offset_ns - a.offset_ns);
  const auto ac = static_cast<long double>(c.offset_ns - a.offset_ns);
  return sign * (ac * ab_at - ab * ac_at) <= 0;
}

// Keeps the hull that no line may cross: the lower hull of upper bounds (sign 1), the upper hull of lower bounds (-1).
void keep_hull(std::vector<OffsetBound>& bounds, int sign) {
  std::sort(bounds.begin(), bounds.end(), [&](const OffsetBound& a, const OffsetBound& b) {
    return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : sign * a.offset_ns < sign * b.offset_ns;
  });
  size_t kept = 0;
  for (const OffsetBound& bound : bounds) {
    if (kept > 0 && bounds[kept - 1].at_ns == bound.at_ns) continue;
    while (kept >= 2 && is_beyond(bounds[kept - 2], bounds[kept - 1], bound, sign)) --kept;
    bounds[kept++] = bound;
  }
  bounds.resize(kept);
}

}  // namespace

void OffsetBounds::add(const OffsetBounds& more) {
  upper.insert(upper.end(), more.upper.begin(), more.upper.end());
  lower.insert(lower.end(), more.lower.begin(), more.lower.end());
}

void OffsetBounds::reduce() {
  keep_hull(upper, 1);
  keep_hull(lower, -1);
}

ClockLine ClockLine::constant(int64_t offset_ns, int64_t error_ns) {
  ClockLine line;
  line.offset_ns_ = offset_ns;
  line.constant_error_ns_ = error_ns;
  return line;
}

std::vector<ClockLine::Corner> ClockLine::lines_within(const std::vector<OffsetBound>& upper,
                                                       const std::vector<OffsetBound>& lower, double by_ns,
                                                       int64_t zero_ns, int64_t base_ns) {
  double most = std::numeric_limits<double>::infinity(), least = -most;
  const auto at = [&](const OffsetBound& bound) { return static_cast<double>(bound.at_ns - zero_ns); };
  const auto offset = [&](const OffsetBound& bound) { return static_cast<double>(bound.offset_ns - base_ns); };
  for (const OffsetBound& b : upper) most = std::min(most, offset(b) + by_ns + kDriftMost * std::abs(at(b)));
  for (const OffsetBound& b : lower) least = std::max(least, offset(b) - by_ns - kDriftMost * std::abs(at(b)));
  if (!(least <= most)) return {};
  std::vector<Corner> corners = {{least, -kDriftMost}, {most, -kDriftMost}, {most, kDriftMost}, {least, kDriftMost}},
                      kept;
  // Keeps the part of the polygon where sign * (offset + drift * at) <= sign * limit.
  const auto cut = [&](double sign, double at_ns, double limit) {
    const auto excess = [&](const Corner& c) { return sign * (c.offset_ns + c.drift * at_ns - limit); };
    kept.clear();
    for (size_t i = 0; i < corners.size(); ++i) {
      const Corner &a = corners[i], &b = corners[(i + 1) % corners.size()];
      const double of_a = excess(a), of_b = excess(b);
      if (of_a <= 0) kept.push_back(a);
      if ((of_a < 0 && of_b > 0) || (of_a > 0 && of_b < 0)) {
        const double share = of_a / (of_a - of_b);
        kept.push_back({a.offset_ns + share * (b.offset_ns - a.offset_ns), a.drift + share * (b.drift - a.drift)});
      }
    }
    corners.swap(kept);
  };
  for (const OffsetBound& b : upper) cut(1, at(b), offset(b) + by_ns);
  for (const OffsetBound& b : lower) cut(-1, at(b), offset(b) - by_ns);
  return corners;
}

// The centroid of the polygon's area; the mean of its corners if it has no area.
ClockLine::Corner ClockLine::centroid(const std::vector<Corner>& corners) {
  Corner mean, sum;
  double area = 0;
  for (const Corner& corner : corners) {
    mean.offset_ns += corner.offset_ns / static_cast<double>(corners.size());
    mean.drift += corner.drift / static_cast<double>(corners.size());
  }
  for (size_t i = 0; i < corners.size(); ++i) {  // relative to the mean, so that doubles keep the digits
    const Corner &a = corners[i], &b = corners[(i + 1) % corners.size()];
    const double ax = a.offset_ns - mean.offset_ns, ay = a.drift - mean.drift;
    const double bx = b.offset_ns - mean.offset_ns, by = b.drift - mean.drift;
    const double cross = ax * by - bx * ay;
    area += cross / 2;
    sum.offset_ns += (ax + bx) * cross / 6;
    sum.drift += (ay + by) * cross / 6;
  }
  if (std::abs(area) < 1e-12) return mean;
  return {mean.offset_ns + sum.offset_ns / area, mean.drift + sum.drift / area};
}

std::optional<ClockLine> ClockLine::fit(OffsetBounds bounds) {
  if (bounds.upper.empty() || bounds.lower.empty()) return std::nullopt;
  bounds.reduce();
  const int64_t first = std::min(bounds.upper.front().at_ns, bounds.lower.front().at_ns);
  const int64_t last = std::max(bounds.upper.back().at_ns, bounds.lower.back().at_ns);
  const int64_t zero_ns = first + (last - first) / 2, base_ns = bounds.upper.front().offset_ns;
  const auto within = [&](double by_ns) { return lines_within(bounds.upper, bounds.lower, by_ns, zero_ns, base_ns); };
  std::vector<Corner> corners = within(0);
  double widened = 0;
  if (corners.empty()) {
    double too_little = 0, enough = 1;
    while (corners = within(enough), corners.empty()) too_little = enough, enough *= 2;
    while (enough - too_little > std::max(1.0, enough / 1024)) {
      const double middle = (too_little + enough) / 2;
      if (auto found = within(middle); found.empty()) {
        too_little = middle;
      } else {
        enough = middle;
        corners = std::move(found);
      }
    }
    widened = enough;
  }
  const Corner centre = centroid(corners);
  ClockLine line;
  line.zero_ns_ = zero_ns;
  line.offset_ns_ = base_ns + std::llround(centre.offset_ns);
  line.drift_ = centre.drift;
  line.widened_ns_ = static_cast<int64_t>(std::ceil(widened));
  // 1 ns for rounding; twice `widened`, since the true offset can deviate to either side.
  line.constant_error_ns_ = 1 + 2 * line.widened_ns_;
  for (const Corner& c : corners) line.corners_.push_back({c.offset_ns - centre.offset_ns, c.drift - centre.drift});
  return line;
}

int64_t ClockLine::offset_ns(int64_t at_ns) const {
  if (drift_ == 0) return offset_ns_;
  return offset_ns_ + std::llround(drift_ * static_cast<double>(at_ns - zero_ns_));
}

int64_t ClockLine::error_ns(int64_t at_ns) const {
  double most = 0;
  for (const Corner& corner : corners_)
    most = std::max(most, std::abs(corner.offset_ns + corner.drift * static_cast<double>(at_ns - zero_ns_)));
  return constant_error_ns_ + static_cast<int64_t>(std::ceil(most));
}

// The errors of both lines add up. If both have corners, each pair of corners is a corner of the sum.
ClockLine ClockLine::after(const ClockLine& third_to_other) const {
  const ClockLine& third = third_to_other;
  ClockLine line;
  line.zero_ns_ = third.corners_.empty() && third.drift_ == 0 ? zero_ns_ + third.offset_ns_ : third.zero_ns_;
  const int64_t of_other = third.ours(line.zero_ns_);
  line.offset_ns_ = third.offset_ns(line.zero_ns_) + offset_ns(of_other);
  line.drift_ = third.drift_ + drift_ - third.drift_ * drift_;
  line.widened_ns_ = widened_ns_ + third.widened_ns_;
  line.constant_error_ns_ = constant_error_ns_ + third.constant_error_ns_;
  // An error of the third line also shifts the time at which this line is evaluated. This adds at most the error times kDriftMost.
  const auto of_third = [&](const Corner& c) {
    const double more = 1 + kDriftMost;
    return Corner{more * (c.offset_ns + c.drift * static_cast<double>(line.zero_ns_ - third.zero_ns_)), more * c.drift};
  };
  const auto of_ours = [&](const Corner& c) {
    return Corner{c.offset_ns + c.drift * static_cast<double>(of_other - zero_ns_), c.drift};
  };
  if (corners_.empty() || third.corners_.empty()) {
    for (const Corner& c : third.corners_) line.corners_.push_back(of_third(c));
    for (const Corner& c : corners_) line.corners_.push_back(of_ours(c));
    return line;
  }
  for (const Corner& a : third.corners_) {
    for (const Corner& b : corners_) {
      const Corner one = of_third(a), other = of_ours(b);
      line.corners_.push_back({one.offset_ns + other.offset_ns, one.drift + other.drift});
    }
  }
  // Too many corners become a box around them. error_ns() takes absolute values, so two corners of the box are enough.
  constexpr size_t kCornersMost = 64;
  if (line.corners_.size() > kCornersMost) {
    double offset = 0, drift = 0;
    for (const Corner& c : line.corners_) {
      offset = std::max(offset, std::abs(c.offset_ns));
      drift = std::max(drift, std::abs(c.drift));
    }
    line.corners_ = {{offset, drift}, {offset, -drift}};
  }
  return line;
}

ClockLine ClockLine::inverse() const {
  ClockLine line = *this;
  line.zero_ns_ = ours(zero_ns_);
  line.offset_ns_ = -offset_ns_;
  line.drift_ = -drift_ / (1 - drift_);
  return line;
}

}  // namespace mlrun::nodes
