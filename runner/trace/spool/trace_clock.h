// SPDX-License-Identifier: Apache-2.0
// Converts a channel's clock and wall time to the clock of the trace (CLOCK_MONOTONIC), by the anchors that the
// collector wrote during the run: linear between two anchors, and extrapolated from the nearest two beyond the first
// and last one.
//
// Conversions are monotone: a later stamp never becomes an earlier time. Results are in [0, kLatestNs].
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runner/events/spool.h"
#include "runner/util/result.h"

namespace mlrun::trace {

inline constexpr int64_t kLatestNs = INT64_MAX / 4;

// The error of the conversion between anchors: the distance of an anchor from the line through its two neighbours.
struct ClockError {
  struct Stretch {
    int64_t start_ns = 0, error_ns = 0;  // the largest error from start_ns on
  };
  size_t anchors = 0, left_out = 0;  // used; not used because imprecise or inconsistent
  int64_t max_ns = 0, median_ns = 0;
  std::vector<Stretch> stretches;  // at most 64 intervals that cover the run
};

// A wall clock time converted to the clock of the trace.
struct WallTime {
  int64_t ts_ns = 0, error_ns = 0;
};

class TraceClock {
 public:
  // Fails if `needs_ticks` and there are too few anchors for counter ticks.
  static Result<TraceClock> make(std::vector<mlrun_frame_anchor> anchors, bool needs_ticks);

  // Caches the position of the last conversion. One per thread.
  class Hint {
    friend class TraceClock;
    size_t line_ = 0;
  };

  [[nodiscard]] int64_t from_ticks(uint64_t ticks, Hint& hint) const {
    const Line* line = &lines_[hint.line_];
    if (ticks < line->first_ticks || ticks > line->last_ticks) {
      hint.line_ = line_at(ticks);
      line = &lines_[hint.line_];
    }
    return line->at(ticks);
  }
  [[nodiscard]] static int64_t from_monotonic(uint64_t ns) {
    return ns > static_cast<uint64_t>(kLatestNs) ? kLatestNs : static_cast<int64_t>(ns);
  }
  [[nodiscard]] int64_t convert(uint64_t clock, mlrun_clock_kind kind, Hint& hint) const {
    return kind == MLRUN_CLOCK_TSC ? from_ticks(clock, hint) : from_monotonic(clock);
  }

  [[nodiscard]] WallTime from_realtime(int64_t realtime_ns) const;
  // Offset from trace time to UTC, at the anchor nearest to `ts_ns`.
  [[nodiscard]] int64_t realtime_offset_ns(int64_t ts_ns) const;

  // Duration of `ticks` of the counter, by its mean rate.
  [[nodiscard]] int64_t length_ns(uint64_t ticks) const;

  [[nodiscard]] const ClockError& error() const { return error_; }
  [[nodiscard]] int64_t first_ns() const {
    return anchors_.empty() ? 0 : from_monotonic(anchors_.front().monotonic_ns);
  }
  [[nodiscard]] int64_t last_ns() const { return anchors_.empty() ? 0 : from_monotonic(anchors_.back().monotonic_ns); }

 private:
  // The line through two anchors, for stamps in [first_ticks, last_ticks].
  struct Line {
    uint64_t first_ticks = 0, last_ticks = UINT64_MAX;
    uint64_t base_ticks = 0;
    int64_t base_ns = 0;
    uint64_t ns_per_tick_32 = 0;  // fixed point, 32 fractional bits

    [[nodiscard]] int64_t at(uint64_t ticks) const;
  };

  [[nodiscard]] size_t line_at(uint64_t ticks) const;
  void drop_bad_anchors();
  void draw_lines();
  void measure_error();

  std::vector<mlrun_frame_anchor> anchors_;  // in order of ticks and of time
  std::vector<Line> lines_ = std::vector<Line>(1);
  ClockError error_;
};

}  // namespace mlrun::trace
