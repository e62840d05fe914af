// SPDX-License-Identifier: Apache-2.0
// Runs one command under several placements, in randomised blocks of a sweep. A run is thrown out if one of its rules has less than 95 % of its
// sampled pages on its nodes, left more than 5 % of the bytes of its blocks to a later rule or to the allocator, or is for call sites and matched
// no block.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/model/run.h"
#include "runner/sweep/statistics/statistics.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

struct PlacedRuns {
  std::string name;                // of the configuration
  std::vector<std::string> rules;  // each the argument of one --place
};

// A recorded command and the conditions under which it ran; texts as in run.json: escaped_utf8, secrets masked.
struct RecordedCommand {
  std::vector<std::string> words;
  std::string folder;
  std::string input;                   // standard input; empty: /dev/null or a terminal
  std::string cpus, policy, mem_node;  // as in model::Placement
  std::string failure;                 // how the recorded run failed; empty: it did not
};

struct Experiment {
  std::string folder;  // of the sweep; an existing sweep is resumed, and gets the blocks that it lacks
  std::string again;   // the command that resumes it, for messages
  RecordedCommand command;
  std::vector<PlacedRuns> configurations;
  std::string figure;  // "wall" or "cpu"
  int64_t blocks = 0;
  bool quiet = false;
};

struct Measured {
  std::map<std::string, Series> time_s;  // by configuration
  size_t failed = 0, thrown_out = 0;     // numbers of runs
  // Runs in time_s whose placement could not be checked: no page was sampled, or none of a rule for call sites.
  size_t unverified = 0;
  std::set<std::string> only_unverified;  // configurations without any other run in time_s
  std::string failure;                    // error text of the first run that failed
};

struct Verified {
  bool is_asked = false;  // a rule names nodes
  // The smallest of all rules: of the rule's memory, on its nodes; nullopt: no page was sampled, or none of a rule for call sites. 0 if such a
  // rule matched no block; at most what a rule placed of its bytes, if that is too little.
  std::optional<double> share;
};
Verified verified(const model::Placement& placement);

// Fails without a run if the recorded command cannot be repeated: it failed, a secret in it is masked, or it is not UTF-8, as plans are.
Result<Measured> make_runs(const Experiment& experiment);

// Fails if a configuration of `needed` has no run that can be used.
Status check_runs(const Experiment& experiment, const std::vector<const char*>& needed, const Measured& measured);

}  // namespace mlrun::sweep
