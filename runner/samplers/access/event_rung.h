// SPDX-License-Identifier: Apache-2.0
// Finds accesses by perf events: the processor's precise events, or page faults. When samples cost the program more than kProgramShare, the
// events are switched off for a while; the rung reports how much of the time they were on. Each thread inherits an event for each processor, also
// while they are off: what that takes has no bound, and is reported.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runner/samplers/access/perf_events.h"
#include "runner/samplers/access/rung.h"
#include "runner/samplers/rounds/sample_budget.h"

namespace mlrun::access {

// Time that events take from the program. 0: unknown.
struct EventCost {
  uint64_t sample_ns = 0;  // of each sample
  uint64_t thread_ns = 0;  // of each thread or process that starts and ends
};

// `rung`: MLRUN_ACCESS_PRECISE, MLRUN_ACCESS_HINT_FAULTS or MLRUN_ACCESS_FAULTS.
// `unseen`: what these events are known not to see on this machine; empty: nothing.
std::unique_ptr<Rung> make_event_rung(mlrun_access_rung rung, std::vector<AccessEvent> events, EventCost cost,
                                      std::string unseen);

// What the samples of a run may cost the program that begins now.
rounds::SampleBudget event_budget(uint64_t now_ns);

// The perf event that samples every page fault; only those in user mode, if the kernel allows no more (exclude_kernel).
AccessEvent page_fault_event();

// Is it an address of the kernel?
constexpr bool is_kernel_address(uint64_t address) { return static_cast<int64_t>(address) < 0; }

// The row of a sample, without an instruction of the kernel. A fault is about its page: of 4 KiB if none was mapped, or the kernel (older than
// Linux 5.11) does not report its size.
mlrun_access_sample row_of(mlrun_access_rung rung, const AccessEvent& event, const decode::PerfSample& sample);

}  // namespace mlrun::access
