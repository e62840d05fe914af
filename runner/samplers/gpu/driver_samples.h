// SPDX-License-Identifier: Apache-2.0
// The driver samples each GPU by itself, more often than mlrun does, and keeps these samples for a while. They are
// fetched whenever mlrun samples, each of them once.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runner/events/gpu_sample.h"
#include "runner/samplers/gpu/nvml.h"

namespace mlrun::gpu {

class DriverSamples {
 public:
  // Fetches only samples taken after `since_us` (CLOCK_REALTIME). Requires: nvml outlives this object.
  DriverSamples(const Nvml& nvml, nvml::Device device, uint64_t since_us);

  // Appends new samples as rows of device `number`, with times on CLOCK_MONOTONIC.
  void fetch(uint32_t number, std::vector<mlrun_gpu_driver_sample>& rows);

  // After a fetch: the fields that this driver does not sample of this GPU; they are not queried again.
  [[nodiscard]] std::vector<std::string> missing() const;

 private:
  struct Kind {
    bool is_missing = false;
    uint64_t last_seen_us = 0;
  };
  const Nvml& nvml_;
  nvml::Device device_;
  std::array<Kind, MLRUN_GPU_DRIVER_FIELDS> kinds_;
};

}  // namespace mlrun::gpu
