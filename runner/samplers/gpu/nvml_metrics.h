// SPDX-License-Identifier: Apache-2.0
// GPM: means between two samples, kept by Hopper and later GPUs; the only utilisation values of a MIG instance.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "runner/events/types.h"
#include "runner/samplers/gpu/nvml.h"

namespace mlrun::gpu {

class NvmlMetrics {
 public:
  // Requires: nvml outlives it.
  NvmlMetrics(const Nvml& nvml, const NvmlDevice& device);
  ~NvmlMetrics();
  NvmlMetrics(const NvmlMetrics&) = delete;
  NvmlMetrics& operator=(const NvmlMetrics&) = delete;

  [[nodiscard]] bool supported() const { return samples_[0] != nullptr; }

  // Writes the means since the last call into the fields from MLRUN_GPU_GRAPHICS_PPM on; the first call writes nothing.
  void read(__s64* fields);

 private:
  [[nodiscard]] bool take(void* sample) const;

  const NvmlFunctions& functions_;
  NvmlDevice device_;
  std::array<void*, 2> samples_{};  // before, now
  bool has_before_ = false;
  std::unique_ptr<nvml::GpmMetrics> metrics_;
};

}  // namespace mlrun::gpu
