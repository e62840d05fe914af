// SPDX-License-Identifier: Apache-2.0
// Keeps a sampler going and its news on the board: a driver that is not there, or whose GPUs stopped answering, is
// tried again, with a new list of GPUs, as long as the monitor lives. For a GPU that stays silent ever more seldom: a new
// list makes the counters of the others miss an interval.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runner/monitor/gpu_board.h"
#include "runner/samplers/gpu/gpu_sampler.h"

namespace mlrun::monitor {

struct FeedState {
  std::string problem;  // one line: why nothing is known of the GPUs; empty: it is
  bool hangs = false;   // that is why: a driver that may be busy still, being loaded too, and is left alone
  bool tried = false;   // it is known whether there is a driver
  uint64_t looks = 0, late_looks = 0, look_ns = 0;
};

class GpuFeed {
 public:
  static constexpr uint64_t kRetryNs = 10'000'000'000, kLongestRetryNs = 600'000'000'000;

  explicit GpuFeed(uint64_t interval_ns);

  // Puts on the board what came since the last call; true: there was a look. Never waits for the driver longer than a
  // second, when it is given up.
  bool poll(uint64_t now_ns, GpuBoard& board);
  [[nodiscard]] const FeedState& state() const { return state_; }
  [[nodiscard]] uint64_t patience_ns() const;  // so long a look may take before it is told

 private:
  void start(uint64_t now_ns);
  void add_up(const gpu::GpuSamplerState& now);
  void judge(uint64_t now_ns, const gpu::GpuSamplerState& now, GpuBoard& board);

  uint64_t interval_ns_;
  std::unique_ptr<gpu::GpuSampler> sampler_;
  gpu::GpuSamplerState counted_;  // of this sampler, what state_ has already
  FeedState state_;
  uint64_t last_look_ns_ = 0, retry_ns_ = 0;  // CLOCK_MONOTONIC
  uint64_t pause_ns_ = kRetryNs;              // until a silent GPU is the reason for a new list
};

}  // namespace mlrun::monitor
