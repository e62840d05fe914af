// SPDX-License-Identifier: Apache-2.0
// GPM: utilisation as means between two samples. Hopper and later GPUs have it; a MIG instance has no other utilisation.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "runner/events/types.h"
#include "runner/samplers/gpu/nvml.h"

namespace mlrun::gpu {

class NvmlMetrics {
 public:
  // Requires: nvml outlives this object.
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
  std::array<void*, 2> samples_{};  // the previous and the newest GPM sample
  bool has_before_ = false;
  std::unique_ptr<nvml::GpmMetrics> metrics_;
};

}  // namespace mlrun::gpu
