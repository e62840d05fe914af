// SPDX-License-Identifier: Apache-2.0
// A file of rules by `mlrun advise`: rules for --place, and in its table [advice] what was expected of them before any such run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/sweep/advise/trace_sites.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

// Time of the advised placement against that with everything on the slow memory, as a fraction of it; 95 % interval.
struct Prediction {
  double change = 0, low = 0, high = 0;
  double near_s = 0, far_s = 0;  // measured: everything on the fast, on the slow memory
  int64_t blocks = 0;            // each with a run of every configuration
};

struct Advice {
  std::string trace;
  std::string fast, slow;                       // targets of rules: "node 1", "huge", "default"
  std::string figure;                           // what is compared: "wall" or "cpu" time
  uint64_t capacity_bytes = 0, min_bytes = 0;   // of the chosen blocks, at most; of each block, at least
  std::string ranked_by;                        // what a site's gain is
  double gain = 0, gain_most = 0;               // of the gain of all sites; no choice has more than gain_most
  std::vector<std::string> signatures, labels;  // of the chosen sites
  std::vector<FrameName> frames;                // of these signatures, to recognise them in another build
  std::string spread;                           // where they go instead, over both nodes; empty: to the fast memory
  std::optional<Prediction> prediction;         // none: a ranking
  std::vector<std::string> command;
  std::string folder;  // where it ran
};

std::string advice_text(const Advice& advice);

// Reads such a file.
Result<Advice> read_advice(const std::string& path);

}  // namespace mlrun::sweep
