// SPDX-License-Identifier: Apache-2.0
// Finds the steps that took longest, and which part of each was longer than usual.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runner/summary/answer.h"

namespace mlrun::summary {

struct SlowStep {
  const StepRow* step = nullptr;
  const char* part = "";  // the part that is most above its median: waiting, computing, checkpoint or other
  int64_t above_ns = 0;
};

struct SlowSteps {
  int64_t median_ns = 0;
  size_t count = 0;             // steps that took a quarter longer than the median
  std::vector<SlowStep> first;  // the longest of these steps, `most` at most, longest first
};

SlowSteps slow_steps(const Answer& answer, size_t most);

// Why the run has no steps, and how to mark them; empty if it has steps, or does not look like a training.
std::string no_steps_text(const Answer& answer);

}  // namespace mlrun::summary
