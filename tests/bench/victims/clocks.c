// SPDX-License-Identifier: Apache-2.0
// The time stamp that every record needs: most of what a recorded call costs, and different on every machine.
#include <x86intrin.h>

#include "loops.h"

static void rdtsc(long iterations) {
  uint64_t sum = 0;
  for (long i = 0; i < iterations; i++) sum += __rdtsc();
  if (sum == 0) give_up("rdtsc");
}

const struct loop clock_loops[] = {{"rdtsc", 1, rdtsc}, {0}};
