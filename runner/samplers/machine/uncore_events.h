// SPDX-License-Identifier: Apache-2.0
// Finds uncore events of memory controllers in sysfs: units (PMUs of perf) with named events that count reads and writes
// of memory.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "runner/events/counter_sample.h"
#include "runner/samplers/machine/bandwidth_reader.h"
#include "runner/util/id_list.h"

namespace mlrun::machine {

struct UncoreEvent {
  std::string unit;  // uncore_imc_0
  uint32_t type = 0;
  uint64_t config = 0, config1 = 0;
  util::IdList cpus;  // one CPU per socket; an event opened there counts the unit of that socket
  double bytes_per_count = 0;
  mlrun_bandwidth_field field = MLRUN_BANDWIDTH_READ_BYTES;
  int32_t channel = -1;  // number of the unit
};

// What a counter of perf reports: its count, and for how long it was asked for and did count. If other events need the
// same hardware counters, the kernel lets them take turns.
struct CounterReading {
  uint64_t count = 0, enabled_ns = 0, running_ns = 0;
};

// The count of an event as if it had been counted all the time. Each span between two readings is scaled up by itself:
// scaling the whole count makes it fall when the share of the time changes.
class ScaledCount {
 public:
  // The total so far. Nothing: the event was not counted at all since the previous reading.
  std::optional<double> add(const CounterReading& now);

 private:
  CounterReading before_;
  double total_ = 0;
};

// Adds up the counters of each channel: a package of several dies has units of the same number on each die, and a channel may have two
// counters for its halves.
class ChannelSums {
 public:
  // `total`: of ScaledCount. The sum is unknown if one of its parts is.
  void add(int32_t socket, const UncoreEvent& event, std::optional<double> total);
  [[nodiscard]] std::vector<BandwidthReading> readings() const;

 private:
  struct Parts {
    double bytes = 0;
    bool all = true;
  };
  std::map<std::pair<int32_t, int32_t>, BandwidthReading> channels_;            // by socket and channel
  std::map<std::tuple<int32_t, int32_t, mlrun_bandwidth_field>, Parts> parts_;  // and by field
};

// `devices`: /sys/bus/event_source/devices.
std::vector<UncoreEvent> find_uncore_events(const std::string& devices);

// The units whose names begin with `prefix`, sorted.
std::vector<std::string> units_with(const std::string& devices, std::string_view prefix);

// The words of perf_event_attr that a unit's format files ("config:0-7") put the terms of an event into.
struct EventWords {
  uint64_t config = 0, config1 = 0;
};

// The value of an event's term, such as 0x04 or 4; 0: there is none.
uint64_t number_of_term(std::string_view text);

// Puts `value` into the bits that a format names. False: `format` names no bits of config or config1.
bool put_bits(std::string_view format, uint64_t value, EventWords& words);

}  // namespace mlrun::machine
