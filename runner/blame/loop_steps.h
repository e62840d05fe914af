// SPDX-License-Identifier: Apache-2.0
// Steps of a training loop, even if it makes no recorded calls. Samples of the Python stack of the thread
// that drives the training show how many batches the loop had taken by then. The number of steps is exact; the start of a step is only
// known to be between two samples.
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
  std::vector<StepBounds> steps;             // empty: no loop, or several, may be the training loop
  std::vector<std::pair<Ns, Ns>> begins_in;  // by step: it began after `first` and not after `second`
  bool of_loader = false;                    // the steps are batches of a DataLoader
};

LoopSteps steps_of_loops(const Timeline& timeline, const Division& division, StackKinds& kinds);

// Combines steps that calls show (`seen`: exact times) with steps that loops show (exact number). std::nullopt: use `seen` unchanged.
std::optional<std::vector<StepBounds>> steps_of_both(const std::vector<StepBounds>& seen, const LoopSteps& loops);

}  // namespace mlrun::blame
