// SPDX-License-Identifier: Apache-2.0
// Writes the sampler's rows into the spool. Used by the collector's thread only.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/collect/collector.h"
#include "runner/collect/spool_writer.h"
#include "runner/events/arena.h"
#include "runner/samplers/looks/sampler.h"

namespace mlrun::looks {

class LookFrames {
 public:
  LookFrames(Sampler& sampler, const collect::Collector& collector, collect::Spool& spool, mlrun_clock_kind clock)
      : sampler_(sampler), collector_(collector), spool_(spool), clock_(clock) {}

  // Passes the recording processes to the sampler, about twenty times a second.
  void tell();
  // Writes new rows, about once a second; `all`: at once.
  void write(bool all);

 private:
  template <typename Row>
  void put_rows(mlrun_sample_table table, const std::vector<Row>& rows);
  void put(mlrun_frame_type type, const void* payload, size_t bytes);

  Sampler& sampler_;
  const collect::Collector& collector_;
  collect::Spool& spool_;
  mlrun_clock_kind clock_;
  uint64_t next_tell_ns_ = 0, next_write_ns_ = 0;
};

}  // namespace mlrun::looks
