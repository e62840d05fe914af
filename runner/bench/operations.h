// SPDX-License-Identifier: Apache-2.0
// The measured operations: loops of the victim program, one per kind of call. To add one: a loop in victim/, a line in
// operations.cpp.
#pragma once

#include <span>

namespace mlrun::bench {

struct Operation {
  const char* name;       // key in JSON, never changed
  const char* text;       // shown in the table
  const char* loop;       // name of its loop in victim/
  int calls;              // calls in one iteration
  int events;             // least number of events in one iteration, recorded or counted
  long first_iterations;  // take about 0.1 ms on a slow machine; used to find how many fill a slice
  bool paused;            // measured while recording is paused
  bool compared;          // measured traced and untraced; else untraced only
  int quick_pairs;        // pairs in the short measurement at the end of a run; 0: not measured there
};

// In the order in which they are measured: operations whose effects on the process slow later ones come last.
std::span<const Operation> operations();

}  // namespace mlrun::bench
