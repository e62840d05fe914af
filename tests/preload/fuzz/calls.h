// SPDX-License-Identifier: Apache-2.0
// The calls of calls.def, by number.
#pragma once

#include <stdbool.h>

#include "tests/preload/fuzz/dice.h"

struct fuzzed_call {
  const char *name;
  long (*make)(struct dice *);
  bool varies;  // what it leaves in memory is not the same each time
};

extern const struct fuzzed_call fuzzed_calls[];
extern const int fuzzed_call_count;

// A call whose arguments are in memory that is mapped and unmapped meanwhile: its result is unknown.
long call_on_memory_that_goes(struct dice *d);
