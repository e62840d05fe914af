// SPDX-License-Identifier: Apache-2.0
// Runs one command under several placements, in randomised blocks of a sweep. A run is thrown out if less than 95 % of its sampled pages
// are on the nodes of their rules.
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
  std::vector<std::string> rules;  // each the argument of one --place
};

struct Experiment {
  std::string folder;  // of the sweep; an existing sweep is resumed
  std::vector<std::string> command;
  std::string working_folder;
  std::vector<PlacedRuns> configurations;
  std::string figure;  // "wall" or "cpu"
  int64_t blocks = 0;
  bool quiet = false;
};

struct Measured {
  std::map<std::string, Series> time_s;  // by configuration
  size_t failed = 0, thrown_out = 0;     // numbers of runs
  // Runs whose placement could not be checked: rules without nodes, or no page was sampled.
  size_t unverified = 0;
  std::string failure;  // error text of the first run that failed
};

// Fails if a configuration of `needed` has no run that can be used.
Result<Measured> make_runs(const Experiment& experiment, const std::vector<const char*>& needed);

}  // namespace mlrun::sweep
