// SPDX-License-Identifier: Apache-2.0
// The file that `mlrun advise` writes: rules for --place, and a table [advice] with how they were chosen and what was expected of them before
// any run under these rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runner/sweep/advise/experiment.h"
#include "runner/sweep/advise/named_sites.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

// Predicted change of the time (Advice::figure) under the advised placement, as a fraction of the time with everything on the slow memory;
// 95 % interval.
struct Prediction {
  double change = 0, low = 0, high = 0;
  // Measured times with everything on the fast memory (if Advice::spread is set: over both nodes; 0: not measured), on the slow memory.
  double near_s = 0, far_s = 0;
  int64_t blocks = 0;  // of runs: each block has one run of every configuration
};

inline constexpr const char* kKernelsChoice =
    "default";  // target of a rule whose blocks are where the kernel's default policy puts them

struct Advice : NamedSites {  // the chosen sites
  std::string trace;
  std::string fast, slow;  // targets of rules: "node 1", "huge", "default"
  std::string figure;      // what is compared: "wall" or "cpu" time
  // Limit of the bytes of the chosen blocks at any moment; smallest block that a rule places.
  uint64_t capacity_bytes = 0, min_bytes = 0;
  // Rules for the fast memory have a budget, those of other placements too: a heap with a budget has no caches of freed blocks. False: the size of
  // --fast is all memory that the fast nodes have.
  bool has_budget = true;
  bool all_fits = true;   // all blocks that are alive at one moment fit on the fast nodes
  std::string ranked_by;  // what the gain of a site is computed from, in words
  // Gain of the chosen sites, as a fraction of the gain of all sites; gain_most: upper bound for any choice.
  double gain = 0, gain_most = 0;
  // Target that spreads the chosen blocks over both nodes; empty: they go to the fast memory.
  std::string spread;
  std::optional<Prediction> prediction;  // none: the sites were only ranked
  RecordedCommand command;
};

std::string advice_text(const Advice& advice);

// A rule, as text, of another placement that is compared with the advised one: its blocks come from the same kind of heap as those that FILE has on
// the same target. `site`: a signature; empty: any.
std::string other_rule(const Advice& advice, const std::string& target, const std::string& site = "");

// Reads a file that advice_text() wrote.
Result<Advice> read_advice(const std::string& path);

}  // namespace mlrun::sweep
