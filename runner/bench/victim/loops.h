// SPDX-License-Identifier: Apache-2.0
// The loops whose cost is measured. Each is one line of a table: allocations.c, file_calls.c, marks.c and processes.c
// hold one table each, main.c runs a line. A loop makes only the calls under test; what it has to do besides is not timed.
#pragma once

#include <stdint.h>

struct loop {
  const char *name;
  void (*run)(long iterations);  // called to warm up and to be timed, by the same thread, as often as it is asked for
};

extern const struct loop allocation_loops[], file_loops[], mark_loops[], process_loops[];  // each ends with a null name

extern const char *data_path;     // the file that the file loops open: readable, writable, not empty
extern const char *program_path;  // this program

// Ends the process with what failed on standard error: a loop whose calls fail measures nothing.
__attribute__((noreturn)) void give_up(const char *what);

// A loop that prepares a batch of calls stops the watch meanwhile.
void stop_watch(void);
void start_watch(void);
