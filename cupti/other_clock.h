// SPDX-License-Identifier: Apache-2.0
// The clock of another tool. CUPTI has one clock for all, and each registration spoils a record, so once a tool of the
// program has registered its clock, ours is not registered again: times are converted to ours.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cupti/cupti_abi.h"

#pragma GCC visibility push(hidden)

struct other_clock {
  bool is_used;
  uint64_t their_now, our_now_ns;
  double ns_per_unit;
};

// From now on CUPTI calls `callback` for the time.
void set_other_clock(cupti_timestamp callback);

// Conversion until the next reading. Once for each flush: a call and its kernel are converted alike.
void sample_other_clock(void);

struct other_clock other_clock_now(void);
uint64_t from_other_clock(const struct other_clock *clock, uint64_t time);

#pragma GCC visibility pop
