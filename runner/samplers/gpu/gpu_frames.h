// SPDX-License-Identifier: Apache-2.0
// Writes samples into the spool. Used by the collector's thread only.
#pragma once

#include "runner/collect/spool_writer.h"
#include "runner/events/arena.h"
#include "runner/samplers/gpu/gpu_sampler.h"

namespace mlrun::gpu {

class GpuFrames {
 public:
  GpuFrames(GpuSampler& sampler, collect::Spool& spool, mlrun_clock_kind clock)
      : sampler_(sampler), spool_(spool), clock_(clock) {}

  // Writes new samples, about once a second; `all`: at once.
  void write(bool all);

 private:
  template <typename Row>
  void put_rows(mlrun_sample_table table, const std::vector<Row>& rows);
  void put(mlrun_frame_type type, const void* payload, size_t bytes);

  GpuSampler& sampler_;
  collect::Spool& spool_;
  mlrun_clock_kind clock_;
  uint64_t next_ns_ = 0;
};

}  // namespace mlrun::gpu
