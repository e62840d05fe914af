// SPDX-License-Identifier: Apache-2.0
// Checks and corrects CUPTI's times. They should be of CLOCK_MONOTONIC, since CUPTI calls our callback for the time.
// They are not if a context is older than the registration of the callback; and zero, inverted and far-off times were
// observed.
#pragma once

#include <stdint.h>

#include "cupti/other_clock.h"

#pragma GCC visibility push(hidden)

struct clock_view {
  uint64_t now_ns;              // CLOCK_MONOTONIC
  uint64_t realtime_minus_now;  // CLOCK_REALTIME - CLOCK_MONOTONIC
  struct other_clock other;
};

struct work_time {
  uint64_t start_ns, end_ns;  // start <= end
  uint32_t clock;             // enum mlrun_gpu_clock
};

struct clock_view read_clocks(void);
struct work_time settle_work_time(const struct clock_view *clock, uint64_t start, uint64_t end);

#pragma GCC visibility pop
