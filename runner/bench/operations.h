// SPDX-License-Identifier: Apache-2.0
// What is measured: the loops of the victim program, and what a call of each kind costs a traced run. To add one: a loop
// in victim/, a line in operations.cpp.
#pragma once

#include <span>

namespace mlrun::bench {

struct Operation {
  const char* name;       // key in JSON, never changed
  const char* text;       // what people see
  const char* loop;       // of victim/
  int calls;              // that one iteration is divided by
  int events;             // that one iteration leaves at least, recorded or counted
  long first_iterations;  // about 0.1 ms on a slow machine: to find out how many fill a slice
  bool paused;            // measured while recording is paused
  bool compared;          // traced against untraced; else only what it takes untraced
  int quick_pairs;        // pairs in the short measurement at the end of a run; 0: no part of it
};

// In the order in which they are measured: what changes the process for the others comes last.
std::span<const Operation> operations();

}  // namespace mlrun::bench
