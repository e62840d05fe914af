// SPDX-License-Identifier: Apache-2.0
// The clock of another tool. CUPTI has one clock for all, and whoever registers another one spoils a record, so after a
// tool of the program has given CUPTI its clock ours is never given again: its times are turned into ours.
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

// CUPTI asks `callback` for the time from now on.
void set_other_clock(cupti_timestamp callback);

// What times are converted by until the next look. Once for each flush: a call and its kernel are converted alike.
void look_at_other_clock(void);

struct other_clock other_clock_now(void);
uint64_t from_other_clock(const struct other_clock *clock, uint64_t time);

#pragma GCC visibility pop
