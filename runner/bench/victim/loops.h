// SPDX-License-Identifier: Apache-2.0
// The loops whose cost is measured. Each is one line of a table: allocations.c, file_calls.c, marks.c, posts.c and
// processes.c hold one table each, main.c runs a line. A loop makes only the calls under test; other work is not timed.
#pragma once

#include <stdint.h>

struct loop {
  const char *name;
  void (*run)(long iterations);  // called by one thread, for the warm-up and for each timing
};

extern const struct loop allocation_loops[], file_loops[], mark_loops[], post_loops[],
    process_loops[];  // ended by a null name

extern const char *data_path;     // opened by the file loops: readable, writable, not empty
extern const char *program_path;  // path of this program

// Prints `what` as the failed call on standard error and exits: a loop whose calls fail measures nothing useful.
__attribute__((noreturn)) void give_up(const char *what);

// Stop and restart the timer, while a loop prepares a batch of calls.
void stop_watch(void);
void start_watch(void);
