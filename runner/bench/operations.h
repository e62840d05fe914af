// SPDX-License-Identifier: Apache-2.0
// The measured operations: loops of the victim program, one per kind of call. To add one: a loop in victim/, a line in
// operations.cpp.
#pragma once

#include <span>

namespace mlrun::bench {

struct Operation {
  const char* name;       // key in JSON, never changed
  const char* text;       // shown in the table
  const char* loop;       // its name in victim/
  int calls;              // calls in one iteration
  int events;             // least number of events in one iteration, recorded or counted
  long first_iterations;  // about 0.1 ms on a slow machine: calibrates how many fill a slice
  bool paused;            // measured while recording is paused
  bool compared;          // traced against untraced; else untraced only
  int quick_pairs;        // pairs in the short measurement at the end of a run; 0: left out there
};

// In measuring order: operations that change the process for the others come last.
std::span<const Operation> operations();

}  // namespace mlrun::bench
