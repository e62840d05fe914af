// SPDX-License-Identifier: Apache-2.0
// The steps that took longest, and which part of them was longer than usual.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runner/summary/answer.h"

namespace mlrun::summary {

struct SlowStep {
  const StepRow* step = nullptr;
  const char* part = "";  // the one that is most above its median: waiting, computing, checkpoint, other
  int64_t above_ns = 0;
};

struct SlowSteps {
  int64_t median_ns = 0;
  size_t count = 0;             // steps that took a quarter longer than the median
  std::vector<SlowStep> first;  // of these, longest first
};

SlowSteps slow_steps(const Answer& answer, size_t most);

// Why there are no steps, and what would show them; empty: there are some, or nothing says that the run is a training.
std::string no_steps_text(const Answer& answer);

}  // namespace mlrun::summary
