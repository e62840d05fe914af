// SPDX-License-Identifier: Apache-2.0
// Samples that the driver takes of a GPU by itself and keeps for a while, finer than ours: fetched at each of our
// samples, each once.
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
  // From `since_us` (CLOCK_REALTIME) on. Requires: nvml outlives it.
  DriverSamples(const Nvml& nvml, nvml::Device device, uint64_t since_us);

  // Appends new samples as rows of device `number`, on our clock.
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
