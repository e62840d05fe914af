// SPDX-License-Identifier: Apache-2.0
// Writes Python stacks into the spool. Used by the collector's thread only.
#pragma once

#include <cstdint>

#include "runner/collect/collector.h"
#include "runner/collect/spool_writer.h"
#include "runner/events/arena.h"
#include "runner/samplers/python/python_sampler.h"

namespace mlrun::python {

class PythonFrames {
 public:
  PythonFrames(PythonSampler& sampler, const collect::Collector& collector, collect::Spool& spool,
               mlrun_clock_kind clock)
      : sampler_(sampler), collector_(collector), spool_(spool), clock_(clock) {}

  // Passes the recording processes to the sampler, about fifty times a second.
  void tell();
  // Writes new payloads.
  void write();

 private:
  PythonSampler& sampler_;
  const collect::Collector& collector_;
  collect::Spool& spool_;
  mlrun_clock_kind clock_;
  uint64_t next_ns_ = 0;
};

}  // namespace mlrun::python
