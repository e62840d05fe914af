// SPDX-License-Identifier: Apache-2.0
// The offset between two clocks as a line over time, from moments that bound it: a message arrives after it was sent.
//
//   o(t) = other clock - our clock, by the other clock's time t      upper bounds   v   v    v       (a message to the other)
//                                                                    the lines that fit  ───────
//                                                                    lower bounds     ^     ^   ^    (a message from it)
//
// All lines between the bounds form a convex polygon of (offset, drift). Its centroid is the line taken, so that no message runs backwards.
// The error at a moment is the largest distance from this line to any other line of the polygon: it contains the true offset as long as the
// clocks differ by a line. Where no line fits, because a clock was steered, the bounds are widened by the smallest amount that lets one fit.
// The amount counts twice in the error: the line misses a bound by it, and the true offset may bend by as much between two bounds.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace mlrun::nodes {

struct OffsetBound {
  int64_t at_ns = 0;      // other clock
  int64_t offset_ns = 0;  // other - ours
};

struct OffsetBounds {
  std::vector<OffsetBound> upper, lower;

  void add(const OffsetBounds& more);
  // Keeps only the bounds that can exclude a line (their hulls). How many these are does not grow with the number of messages.
  void reduce();
};

// The offset of the other clock as a line over time, and how far the true offset may be from it.
class ClockLine {
 public:
  // Two clocks that are known to differ by a constant, exactly or up to an error.
  static ClockLine constant(int64_t offset_ns, int64_t error_ns);
  // nullopt: there are no upper or no lower bounds.
  static std::optional<ClockLine> fit(OffsetBounds bounds);

  // At the time `at_ns` of the other clock.
  [[nodiscard]] int64_t offset_ns(int64_t at_ns) const;
  [[nodiscard]] int64_t error_ns(int64_t at_ns) const;
  // The other clock's time by ours.
  [[nodiscard]] int64_t ours(int64_t at_ns) const { return at_ns - offset_ns(at_ns); }
  [[nodiscard]] double drift() const { return drift_; }  // of the other clock, relative to ours
  [[nodiscard]] int64_t widened_ns() const { return widened_ns_; }

  // A third clock relative to ours. `third_to_other`: the third clock relative to the other one.
  [[nodiscard]] ClockLine after(const ClockLine& third_to_other) const;
  // Our clock relative to the other one, over our time.
  [[nodiscard]] ClockLine inverse() const;

 private:
  struct Corner {
    double offset_ns = 0, drift = 0;
  };
  // Corners of the polygon of lines that fit the bounds, widened by `by_ns`; empty: no line fits.
  static std::vector<Corner> lines_within(const std::vector<OffsetBound>& upper, const std::vector<OffsetBound>& lower,
                                          double by_ns, int64_t zero_ns, int64_t base_ns);
  static Corner centroid(const std::vector<Corner>& corners);

  int64_t zero_ns_ = 0;  // the other clock's time at which the offset is offset_ns_
  int64_t offset_ns_ = 0;
  double drift_ = 0;
  int64_t widened_ns_ = 0, constant_error_ns_ = 0;
  std::vector<Corner> corners_;  // of the polygon, relative to the line's offset and drift
};

}  // namespace mlrun::nodes
