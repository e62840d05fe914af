// SPDX-License-Identifier: Apache-2.0
// Runs a GPU sampler and puts its rows on the board. If the driver is missing, or a GPU stops answering, a new sampler is
// started, which lists the GPUs again. While a GPU stays silent, the retries become rarer: with each new list, the counters
// of all other GPUs miss an interval.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runner/model/run.h"
#include "runner/monitor/gpu_board.h"
#include "runner/samplers/gpu/gpu_sampler.h"

namespace mlrun::monitor {

struct FeedState {
  std::string problem;  // one line: why there is no data; empty: no problem
  bool hangs = false;   // the driver does not return from a call (it may still be loading), and is not retried
  bool tried = false;   // the driver was tried at least once
  uint64_t samples = 0, late_samples = 0, sample_ns = 0;
};

class GpuFeed {
 public:
  static constexpr uint64_t kRetryNs = 10'000'000'000, kLongestRetryNs = 600'000'000'000;

  explicit GpuFeed(uint64_t interval_ns);

  // Puts new rows on the board. True: there was a sample. May wait up to a second for the driver before a retry.
  bool poll(uint64_t now_ns, GpuBoard& board);
  [[nodiscard]] const FeedState& state() const { return state_; }
  [[nodiscard]] uint64_t patience_ns() const;  // how long a sample may take before it is reported

 private:
  void start(uint64_t now_ns);
  void add_up(const model::GpuSampler& now);
  void judge(uint64_t now_ns, const model::GpuSampler& now, GpuBoard& board);

  uint64_t interval_ns_;
  std::unique_ptr<gpu::GpuSampler> sampler_;
  model::GpuSampler counted_;  // this sampler's counts already included in state_
  FeedState state_;
  uint64_t last_sample_ns_ = 0, retry_ns_ = 0;  // CLOCK_MONOTONIC
  uint64_t pause_ns_ = kRetryNs;                // time until a silent GPU causes a new list of GPUs
};

}  // namespace mlrun::monitor
