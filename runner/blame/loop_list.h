// SPDX-License-Identifier: Apache-2.0
// The Python loops of a thread, from samples of its stack: each run of a loop, and how many batches it had taken at each sample.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "runner/blame/stack_kinds.h"
#include "runner/blame/timeline/timeline.h"

namespace mlrun::blame {

// One run of a loop from its beginning to its end, such as an epoch.
struct Lap {
  std::vector<std::pair<Ns, size_t>> taken;  // time of a sample, batches taken by then; by time
  Ns before_ns = 0, after_ns = 0;  // the nearest samples before and after it, in which the loop is not on the stack
  double step_ns = 0;

  [[nodiscard]] Ns first_ns() const { return taken.front().first; }
  [[nodiscard]] Ns last_ns() const { return taken.back().first; }
};

// Runs of the loop at one place of the program, one after the other, all over the same number of items. Other runs at this place are other Loops.
struct Loop {
  std::vector<Lap> laps;    // by time, none overlap
  size_t steps_of_lap = 0;  // 0: unknown
  bool of_loader = false;   // it iterates over a DataLoader

  [[nodiscard]] size_t steps() const { return laps.size() * steps_of_lap; }
  [[nodiscard]] Ns ns() const;
};

// Lists only loops whose runs are all known from the first to the last step.
std::vector<Loop> list_loops(const Timeline& timeline, int32_t thread_id, StackKinds& kinds);

}  // namespace mlrun::blame
