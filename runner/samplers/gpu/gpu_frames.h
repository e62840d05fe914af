// SPDX-License-Identifier: Apache-2.0
// Writes the GPU sampler's rows into the spool. Used by the collector's thread only.
#pragma once

#include "runner/collect/sample_frames.h"
#include "runner/samplers/gpu/gpu_sampler.h"

namespace mlrun::gpu {

class GpuFrames {
 public:
  GpuFrames(GpuSampler& sampler, collect::Spool& spool, mlrun_clock_kind clock)
      : sampler_(sampler), frames_(spool, clock) {}

  // Writes new rows about once a second. `all`: writes them now.
  void write(bool all);

 private:
  GpuSampler& sampler_;
  collect::SampleFrames frames_;
  uint64_t next_ns_ = 0;
};

}  // namespace mlrun::gpu
