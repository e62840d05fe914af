// SPDX-License-Identifier: Apache-2.0
// Measures in pairs: a traced and an untraced victim run each loop in turn, in the order AB, BA, AB, ... Each round has new
// victims and one pair for each loop, so that the memory layout of one process does not bias the result. A figure is the
// median of the differences within pairs: slow changes of the machine's speed cancel out.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runner/bench/collection.h"
#include "runner/bench/estimate.h"
#include "runner/bench/operations.h"
#include "runner/bench/victim.h"
#include "runner/util/result.h"

namespace mlrun::bench {

struct Plan {
  bool quick = false;                 // one round, with quick_pairs pairs of each operation
  uint64_t slice_ns = 1'500'000;      // CPU time of a loop in one victim
  uint64_t limit_ns = 5'000'000'000;  // no round starts that would end later, but least_rounds always run
  int least_rounds = 5;
  int most_rounds = 1001;
};

struct Figure {
  const Operation* operation = nullptr;
  Estimate untraced_ns;  // CPU time per call
  Estimate added_ns;     // cost of tracing per call; only for operations that are `compared`
};

struct Measurement {
  std::vector<Figure> figures;
  int rounds = 0;
  Collected collected;
};

struct Installed {
  std::string victim;   // path of mlrun-bench-loops
  std::string library;  // path of libmlrun_preload.so
};

// `report` is called before each round with the rounds done and the time used; false ends the measurement with an error.
using Report = std::function<bool(int rounds, uint64_t used_ns)>;

// Measures for the time of the plan. Removes all files that it creates.
Result<Measurement> measure(const Plan& plan, const Installed& installed, const Report& report);

}  // namespace mlrun::bench
