// SPDX-License-Identifier: Apache-2.0
// The clocks of a run. CLOCK_MONOTONIC is the clock of the trace; recording threads stamp with the time stamp counter
// if the kernel trusts it.
#pragma once

#include <time.h>
#include <x86intrin.h>

#include <cstdint>
#include <string>

#include "runner/events/arena.h"

namespace mlrun::util {

// Calls libc's own function even if a preloaded library has replaced it to fake the time.
uint64_t clock_ns(clockid_t clock);
inline uint64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }
inline uint64_t realtime_ns() { return clock_ns(CLOCK_REALTIME); }
inline uint64_t boottime_ns() { return clock_ns(CLOCK_BOOTTIME); }

// "2026-11-25T19:43:15Z".
std::string utc_text(int64_t realtime_ns);

// The current time on the clock of the recording threads.
inline uint64_t stamp(mlrun_clock_kind kind) { return kind == MLRUN_CLOCK_TSC ? __rdtsc() : monotonic_ns(); }

struct ClockChoice {
  mlrun_clock_kind kind = MLRUN_CLOCK_MONOTONIC;
  std::string reason;  // why the time stamp counter is not used; empty: it is used
};

// Chooses the time stamp counter if it is invariant and the kernel's clock source, else CLOCK_MONOTONIC.
ClockChoice choose_clock();

}  // namespace mlrun::util
