// SPDX-License-Identifier: Apache-2.0
// The loops whose cost is measured. Each is one entry of a table: allocations.c, deep_allocations.c, file_calls.c, posts.c,
// processes.c and clocks.c hold one table each, measure.c runs an entry. A loop makes only the calls under test and keeps its state per thread,
// so that two threads share nothing but the kernel.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runner/bench/victim/blocks.h"

struct loop {
  const char *name;
  int calls;                     // calls under test in one iteration
  void (*run)(long iterations);  // called once to warm up and once to be timed, by the same thread
};

extern const struct loop allocation_loops[], deep_loops[], file_loops[], post_loops[], process_loops[],
    clock_loops[];  // each ends with a null name

extern const char *data_path;  // the file that the file loops read

// Prints what failed and ends the process: a loop whose calls fail measures nothing.
__attribute__((noreturn)) void give_up(const char *what);
