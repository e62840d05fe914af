// SPDX-License-Identifier: Apache-2.0
// One look at all clocks at the same moment, as nearly as can be had.
#pragma once

#include <cstdint>

#include "runner/events/arena.h"
#include "runner/events/spool.h"

namespace mlrun::collect {

// The narrowest of five looks. CLOCK_MONOTONIC stands in the middle of the bracket that width_ticks is the width of;
// `tsc` is its midpoint.
mlrun_frame_anchor look_at_clocks();

// How many ticks of the clock make up `ns`, measured over a third of a millisecond where it is not nanoseconds itself.
uint64_t ticks_in(uint64_t ns, mlrun_clock_kind kind);

}  // namespace mlrun::collect
