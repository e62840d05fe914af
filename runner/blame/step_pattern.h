// SPDX-License-Identifier: Apache-2.0
// Steps of a loop that has neither marks nor worker processes, from the pattern in which its thread gets data and computes.
//
//   files, waits   ▇▇▇      ▇▇▇      ▇▇▇             get a batch: the driver's calls on data files; or its waits for threads of one name
//   computing         ──────   ──────   ──────       and the waits of such threads that the driver ends (it takes a batch, or asks for one)
//                     ^ a step begins
#pragma once

#include <vector>

#include "runner/blame/divide.h"
#include "runner/blame/timeline/timeline.h"

namespace mlrun::blame {

struct StepBounds {
  Ns start_ns = 0, end_ns = 0;
};

struct PatternSteps {
  std::vector<StepBounds> steps;  // empty: no pattern, or more than one
  double sure = 0;                // 0 to 1: how sure the steps are, mostly the share of them that look alike
};

PatternSteps steps_of_pattern(const Timeline& timeline, const Division& division, WaitEnds& ends);

}  // namespace mlrun::blame
