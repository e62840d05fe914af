// SPDX-License-Identifier: Apache-2.0
// Runs of one command under several placements, in randomised blocks, by a sweep. A run whose pages are not where its rules say counts as
// thrown out.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runner/sweep/statistics/statistics.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

struct PlacedRuns {
  std::string name;                // of the configuration
  std::vector<std::string> rules;  // each a --place
};

struct Experiment {
  std::string folder;  // of the sweep; one that is there is resumed
  std::vector<std::string> command;
  std::string working_folder;
  std::vector<PlacedRuns> configurations;
  std::string figure;  // "wall" or "cpu"
  int64_t blocks = 0;
  bool quiet = false;
};

struct Measured {
  std::map<std::string, Series> time_s;  // by configuration
  size_t failed = 0, thrown_out = 0;     // runs
  size_t unverified = 0;                 // their rules name no nodes, or they were too short to sample
  std::string failure;                   // of the first run that failed
};

// Fails if a configuration of `needed` has no run that can be used.
Result<Measured> make_runs(const Experiment& experiment, const std::vector<const char*>& needed);

}  // namespace mlrun::sweep
