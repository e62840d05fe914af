// SPDX-License-Identifier: Apache-2.0
// What each rule of --place did in all processes of a run, or where the memory policy of the command put their memory, from its run.json.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runner/model/run.h"

namespace mlrun::report {

struct PlacedRule {
  std::string text, folder;            // folder: that of --pmem; empty: memory not in files
  std::string policy;                  // "preferred", "bind", "interleave" or "ratio"; empty: no node was asked for
  std::vector<int64_t> asked, shares;  // nodes, also of a kind of memory or near a GPU; shares: of a ratio, by node
  bool maps = false;                   // the rule is about mappings that the program makes itself
  bool strict = false, huge = false;
  int64_t matches = 0, bytes = 0, fallbacks = 0, fallback_bytes = 0;
  int64_t peak_bytes = 0;                     // largest sum at one time in one process; unknown for mappings
  int64_t resident_bytes = 0;                 // resident memory of the processes whose pages were sampled
  std::map<int64_t, int64_t> bytes_on;        // estimated, by NUMA node
  std::vector<model::Placement::Site> sites;  // of the most bytes on nodes that it does not ask for
  bool lacks_mappings = false;                // of a process not all mappings could be sampled
  std::string why_unsampled;                  // empty: its pages were sampled, or no process lived for a second
};

// The sites with the most bytes on other nodes than a rule asks for. rule: -1: than the policy of the command asks for.
std::vector<model::Placement::Site> sites_elsewhere(const model::Placement& placement, int64_t rule);

std::vector<PlacedRule> placed_rules(const model::Placement& placement);

// Private memory without a file, shared memory without one, or mapped files, under a policy of the command, by NUMA node: the sum over all
// processes, estimated; shared memory counts in each process that maps it. Without what rules place; empty with rules about mappings.
enum class Memory { kPrivate, kShared, kFiles };
std::map<int64_t, int64_t> bytes_by_policy(const model::Placement& placement, Memory memory);

}  // namespace mlrun::report
