// SPDX-License-Identifier: Apache-2.0
// The processor's events that know address and data source of a load or store: Intel's mem-loads and mem-stores, AMD's IBS. Not seen
// on hardware. Arm's SPE writes a buffer of packets of its own and is not read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/samplers/access/event_rung.h"

namespace mlrun::access {

struct PreciseWish {
  double hz = 1000;                                 // samples of each processor and event a second
  std::optional<uint64_t> read_event, write_event;  // raw numbers, instead of what sysfs names
};

// Those that `devices` (/sys/bus/event_source/devices) names, or the raw ones. Empty: none; `why` says so.
std::vector<AccessEvent> find_precise_events(const std::string& devices, const PreciseWish& wish, std::string& why);

}  // namespace mlrun::access
