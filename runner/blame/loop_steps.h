// SPDX-License-Identifier: Apache-2.0
// Steps of a loop that leaves no call: samples of the driver's stack show how many batches it had taken. The number is exact, a begin lies
// between two samples.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "runner/blame/divide.h"
#include "runner/blame/stack_kinds.h"
#include "runner/blame/step_pattern.h"
#include "runner/blame/timeline/timeline.h"

namespace mlrun::blame {

struct LoopSteps {
  std::vector<StepBounds> steps;             // none: no loop, or several
  std::vector<std::pair<Ns, Ns>> begins_in;  // for each: after the first moment, and not after the second one
  bool of_loader = false;                    // batches of a DataLoader
};

LoopSteps steps_of_loops(const Timeline& timeline, const Division& division, StackKinds& kinds);

// `seen`: steps that calls show. Both together: calls tell the moments, the loop the number. Nothing: `seen` are right.
std::optional<std::vector<StepBounds>> steps_of_both(const std::vector<StepBounds>& seen, const LoopSteps& loops);

}  // namespace mlrun::blame
