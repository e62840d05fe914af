// SPDX-License-Identifier: Apache-2.0
// The state of the machine around a run: what may explain that it took longer than others. Values that this kernel does not report are
// absent.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "runner/sweep/store/rows.h"

namespace mlrun::sweep {

// Counters of the machine at a moment.
struct MachineCounters {
  uint64_t monotonic_ns = 0;
  uint64_t busy_ticks = 0, steal_ticks = 0, iowait_ticks = 0;  // of all CPUs
  uint64_t swapped_pages = 0;                                  // in and out
  std::map<std::string, int64_t> stall_ns;                     // by name: cpu_some, io_full ... (PSI)
};
MachineCounters read_machine_counters();

// load_1m, memory_available_bytes, node_N_free_bytes, temperature_c, frequency_hz: at this moment. `system`: /sys, but for tests.
void add_machine_now(Figures& machine, const std::string& system = "/sys");

// Between two moments: steal_share, other_cpu_share, iowait_share (of all CPUs' time), swapped_bytes, stall_cpu_some_share ...
// `run_cpu_s`: CPU time of the run; other_cpu_share is the rest of the busy time.
void add_machine_between(const MachineCounters& from, const MachineCounters& to, double run_cpu_s, Figures& machine);

// governor, turbo, thp, numa_balancing, aslr, kernel, cpus: words.
std::map<std::string, std::string> machine_facts();

}  // namespace mlrun::sweep
