// SPDX-License-Identifier: Apache-2.0
// Converts times of another tool's clock to CLOCK_MONOTONIC. CUPTI has one clock callback for all clients. A
// registration makes the time of one record wrong, so once another tool has registered its clock, we do not register
// ours again.
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

// To be called when the tool has registered `callback`, which CUPTI calls for the time from now on.
void set_other_clock(cupti_timestamp callback);

// Reads both clocks; conversions use this reading until the next one. Called once for each flush, so that the times of
// a call and of its kernel are converted alike.
void sample_other_clock(void);

struct other_clock other_clock_now(void);
uint64_t from_other_clock(const struct other_clock *clock, uint64_t time);

#pragma GCC visibility pop
