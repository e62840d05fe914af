// SPDX-License-Identifier: Apache-2.0
// Adds up the samples of each GPU.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "runner/events/gpu_sample.h"
#include "runner/model/rows.h"
#include "runner/summary/summary.h"

namespace mlrun::summary {

// Harmless bits of MLRUN_GPU_THROTTLE: idle, and clocks set by a user.
inline constexpr int64_t kHarmlessThrottle = 0x1 | 0x2 | 0x100;

class GpuMeter {
 public:
  void add(const mlrun_gpu_sample& sample);

  // One for each sampled device, in the order of `devices`.
  [[nodiscard]] std::vector<GpuSummary> finish(const std::vector<model::GpuRow>& gpus) const;

 private:
  struct Mean {
    double sum = 0;  // value x time
    int64_t ns = 0;
    void add(int64_t value, int64_t over_ns);
    [[nodiscard]] int64_t get() const;  // -1: no value
  };
  struct Gpu {
    GpuSummary sums;
    Mean sm, mem, power, sm_active, tensor, dram;
  };
  std::map<uint32_t, Gpu> gpus_;
};

}  // namespace mlrun::summary
