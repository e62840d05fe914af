// SPDX-License-Identifier: Apache-2.0
// The common part of the programs that mlrun starts to write or read traces. The first argument names a verb of the
// program's table.
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

// Runs the verb by run_program. Freed memory stays in malloc's heap. When memory is short, ends with one line. `name`: the program's name.
int run_trace_program(const char* name, std::span<const Verb> verbs, int argc, char** argv);

}  // namespace mlrun::util
