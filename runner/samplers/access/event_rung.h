// SPDX-License-Identifier: Apache-2.0
// Accesses by events of perf: the processor's precise ones, or page faults. Where samples cost the program more than its share
// (kProgramShare), the events rest for a while; RungFacts says how much of the time they were on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runner/samplers/access/perf_events.h"
#include "runner/samplers/access/rung.h"

namespace mlrun::access {

struct AccessEvent {
  perf_event_attr attr{};
  std::string name;                            // mem-loads
  mlrun_access_kind kind = MLRUN_ACCESS_LOAD;  // where the data source does not say
};

// `rung`: MLRUN_ACCESS_PRECISE or MLRUN_ACCESS_HINT_FAULTS. `sample_ns`: what a sample costs the program; 0: unknown.
std::unique_ptr<Rung> make_event_rung(mlrun_access_rung rung, std::vector<AccessEvent> events, uint64_t sample_ns);

// Page faults of user space, each a sample.
AccessEvent page_fault_event();

}  // namespace mlrun::access
