// SPDX-License-Identifier: Apache-2.0
// The offset between two clocks as a line over time, from moments that bound it: a message arrives after it was sent.
//
//   o(t) = other clock - our clock, by the other clock's time t      upper bounds   v   v    v       (a message to the other)
//                                                                    the lines that fit  ───────
//                                                                    lower bounds     ^     ^   ^    (a message from it)
//
// All lines between the bounds are a convex polygon of (offset, drift). The line taken is its centroid, so that no message runs
// backwards; the error at a moment is the largest distance of any other line of the polygon from it, so the true offset is within it
// as long as the true clocks follow a line. Where no line fits, because a clock was steered, the bounds are widened by the least that lets one fit,
// which counts twice as error: the line is off by it, and so is the truth between two bounds.
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
  // Keeps those that can matter. Their number does not grow with that of the messages any more.
  void reduce();
};

// A line, and how far the truth may be from it.
class ClockLine {
 public:
  // Two clocks that are known to differ by a constant, exactly or up to an error.
  static ClockLine constant(int64_t offset_ns, int64_t error_ns);
  // nullopt: bounds on one side are missing.
  static std::optional<ClockLine> fit(OffsetBounds bounds);

  // At the time `at_ns` of the other clock.
  [[nodiscard]] int64_t offset_ns(int64_t at_ns) const;
  [[nodiscard]] int64_t error_ns(int64_t at_ns) const;
  // The other clock's time by ours.
  [[nodiscard]] int64_t ours(int64_t at_ns) const { return at_ns - offset_ns(at_ns); }
  [[nodiscard]] double drift() const { return drift_; }  // of the other clock, relative to ours
  [[nodiscard]] int64_t widened_ns() const { return widened_ns_; }

  // The line from a third clock to ours, given that from the third to the other.
  [[nodiscard]] ClockLine after(const ClockLine& third_to_other) const;
  // The offset of our clock by the other's, by our time.
  [[nodiscard]] ClockLine inverse() const;

 private:
  struct Corner {
    double offset_ns = 0, drift = 0;
  };
  // Corners of the lines within the bounds, widened by `by_ns`; empty: no line fits.
  static std::vector<Corner> lines_within(const std::vector<OffsetBound>& upper, const std::vector<OffsetBound>& lower,
                                          double by_ns, int64_t zero_ns, int64_t base_ns);
  static Corner centroid(const std::vector<Corner>& corners);

  int64_t zero_ns_ = 0;  // where the line has offset_ns_
  int64_t offset_ns_ = 0;
  double drift_ = 0;
  int64_t widened_ns_ = 0, constant_error_ns_ = 0;
  std::vector<Corner> corners_;  // relative to the line
};

}  // namespace mlrun::nodes
