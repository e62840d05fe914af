// SPDX-License-Identifier: Apache-2.0
// The loops of a thread, as far as samples of its stack show them: each time that one ran, and how many batches it had taken when.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "runner/blame/stack_kinds.h"
#include "runner/blame/timeline/timeline.h"

namespace mlrun::blame {

// A loop from its beginning to its end, such as an epoch.
struct Lap {
  std::vector<std::pair<Ns, size_t>> taken;  // batches that it had taken, by time of the samples
  Ns before_ns = 0, after_ns = 0;            // the nearest samples that do not show it
  double step_ns = 0;

  [[nodiscard]] Ns first_ns() const { return taken.front().first; }
  [[nodiscard]] Ns last_ns() const { return taken.back().first; }
};

// At one place of the program, over as many items each time.
struct Loop {
  std::vector<Lap> laps;    // by time, one after the other
  size_t steps_of_lap = 0;  // 0: its end is not known
  bool of_loader = false;   // a DataLoader's

  [[nodiscard]] size_t steps() const { return laps.size() * steps_of_lap; }
  [[nodiscard]] Ns ns() const;
};

// Only those of which every lap is known from its first to its last step.
std::vector<Loop> list_loops(const Timeline& timeline, int32_t thread_id, StackKinds& kinds);

}  // namespace mlrun::blame
