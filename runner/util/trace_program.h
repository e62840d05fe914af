// SPDX-License-Identifier: Apache-2.0
// A program that mlrun calls to write or read traces: its first argument names a verb of its table.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::util {

struct Verb {
  const char* name;
  Result<int> (*run)(const std::vector<std::string>& arguments);  // the words after the verb; returns the exit status
  bool parent_says_shortage = false;                              // memory_shortage.h
};

// Runs the verb as run_program does, keeps freed memory, and ends with one line where memory is short. `name`: of the program.
int run_trace_program(const char* name, std::span<const Verb> verbs, int argc, char** argv);

}  // namespace mlrun::util
