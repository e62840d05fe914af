// SPDX-License-Identifier: Apache-2.0
// Finds the processor's events that record address and data source of a load or store: Intel's mem-loads and mem-stores, AMD's IBS. Not tested
// on hardware. Arm's SPE is not supported: it writes packets in another format.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/samplers/access/event_rung.h"

namespace mlrun::access {

// Samples a second if the user gives no number. `most`: kernel.perf_event_max_sample_rate, above which the kernel refuses events; 0: unknown.
constexpr double default_rate(uint64_t most) {
  constexpr uint64_t kRate = 1000;
  return static_cast<double>(most == 0 ? kRate : std::min(kRate, most));
}

struct PreciseWish {
  double hz = 1000;                                 // samples per second, for each processor and event
  std::optional<uint64_t> read_event, write_event;  // raw event numbers, used instead of the events in sysfs
};

// The events that `devices` (/sys/bus/event_source/devices) describes, or the raw ones. Empty: there are none; `why` gets the reason.
std::vector<AccessEvent> find_precise_events(const std::string& devices, const PreciseWish& wish, std::string& why);

// That samples of some event each count as one access, since the event counts something else; empty: they are scaled.
std::string unscaled_events(const std::vector<AccessEvent>& events);

// Which of the processors none of the events can see, as the smaller ones of a hybrid. Empty: the events see all.
std::string unseen_processors(const std::vector<AccessEvent>& events, const util::IdList& online);

}  // namespace mlrun::access
