// SPDX-License-Identifier: Apache-2.0
// Reads all clocks at the same moment, as closely as possible.
#pragma once

#include <cstdint>

#include "runner/events/arena.h"
#include "runner/events/spool.h"

namespace mlrun::collect {

// The best of five readings. Each reads CLOCK_MONOTONIC between two readings of the time stamp counter, which are
// width_ticks apart; `tsc` is their midpoint. The best has the smallest width.
mlrun_frame_anchor read_clocks();

// Converts `ns` to ticks of the clock; a clock that does not count nanoseconds is measured over a third of a
// millisecond.
uint64_t ticks_in(uint64_t ns, mlrun_clock_kind kind);

}  // namespace mlrun::collect
