// SPDX-License-Identifier: Apache-2.0
// Tests the BPF programs: does I/O on a scratch file while they are attached, and counts their records. A program that
// attaches does not necessarily fire.
#pragma once

#include <string>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::probes {

struct TriedSignal {
  std::string name, mechanism;
  std::string doubt;  // a sentence on what is missing, limited or untried; empty: nothing, and no test of it failed
  bool is_partial = false;  // all or part of the signal is missing, or it could not be tested
};

// Loads all BPF programs, tests them and unloads them. Fails when they cannot be loaded.
Result<std::vector<TriedSignal>> self_test();

}  // namespace mlrun::probes
