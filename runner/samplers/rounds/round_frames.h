// SPDX-License-Identifier: Apache-2.0
// Writes the sampler's rows into the spool. Used by the collector's thread only.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/collect/collector.h"
#include "runner/collect/sample_frames.h"
#include "runner/samplers/rounds/sampler.h"

namespace mlrun::rounds {

class RoundFrames {
 public:
  RoundFrames(Sampler& sampler, const collect::Collector& collector, collect::Spool& spool, mlrun_clock_kind clock)
      : sampler_(sampler), collector_(collector), frames_(spool, clock) {}

  // Passes the recording processes to the sampler, about twenty times a second, and at once whether recording is paused.
  void watch();
  // Writes new rows about once a second. `all`: writes them now.
  void write(bool all);

 private:
  Sampler& sampler_;
  const collect::Collector& collector_;
  collect::SampleFrames frames_;
  bool is_paused_ = false;
  uint64_t next_watch_ns_ = 0, next_write_ns_ = 0;
};

}  // namespace mlrun::rounds
