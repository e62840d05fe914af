// SPDX-License-Identifier: Apache-2.0
// Converts the clock of the channels to nanoseconds during the run, precisely enough to choose buckets and stretches. Sums
// of durations stay in ticks: the merger converts them more precisely, with all anchors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runner/events/spool.h"

namespace mlrun::sums {

class SumsClock {
 public:
  explicit SumsClock(mlrun_clock_kind kind);

  void add(const mlrun_frame_anchor& anchor);

  [[nodiscard]] uint64_t length_ns(uint64_t ticks) const {
    return kind_ == MLRUN_CLOCK_TSC ? static_cast<uint64_t>(static_cast<double>(ticks) * ns_per_tick_) : ticks;
  }
  [[nodiscard]] uint64_t monotonic_ns(uint64_t clock) const;
  [[nodiscard]] uint64_t from_realtime(int64_t realtime_ns) const;

  // A bounded subset of the anchors, evenly spread over the run, with the newest one.
  [[nodiscard]] const std::vector<mlrun_frame_anchor>& anchors() const { return anchors_; }
  [[nodiscard]] uint64_t first_ns() const { return anchors_.empty() ? 0 : anchors_.front().monotonic_ns; }

 private:
  static constexpr size_t kAnchorsMax = 4096;

  mlrun_clock_kind kind_;
  double ns_per_tick_ = 1;
  mlrun_frame_anchor last_{};
  std::vector<mlrun_frame_anchor> anchors_;
  uint64_t step_ = 1, seen_ = 0;  // every step_-th anchor is kept, and the newest one
};

}  // namespace mlrun::sums
