// SPDX-License-Identifier: Apache-2.0
// The clocks of a run. CLOCK_MONOTONIC is the clock of the trace; recording threads stamp with the time stamp counter
// where the kernel itself trusts it.
#pragma once

#include <time.h>
#include <x86intrin.h>

#include <cstdint>
#include <string>

#include "runner/events/arena.h"

namespace mlrun::util {

// By libc's own function, also where a preloaded library has replaced it to show programs another time.
uint64_t clock_ns(clockid_t clock);
inline uint64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }
inline uint64_t realtime_ns() { return clock_ns(CLOCK_REALTIME); }
inline uint64_t boottime_ns() { return clock_ns(CLOCK_BOOTTIME); }

// The moment on the clock that recording threads use.
inline uint64_t stamp(mlrun_clock_kind kind) { return kind == MLRUN_CLOCK_TSC ? __rdtsc() : monotonic_ns(); }

struct ClockChoice {
  mlrun_clock_kind kind = MLRUN_CLOCK_MONOTONIC;
  std::string reason;  // why not the counter; empty when it is used
};

// The counter is used where it runs at one rate through all power states and the kernel keeps time by it.
ClockChoice choose_clock();

}  // namespace mlrun::util
