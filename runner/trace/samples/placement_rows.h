// SPDX-License-Identifier: Apache-2.0
// The rules of --place and their effect in each process, from run.json.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/model/run.h"

namespace mlrun::trace {

// The allocations that one rule matched in one process.
struct PlacementRow {
  int32_t rule = 0;  // index in the order in which the rules were given, from 0
  std::string text;
  int64_t pid = 0;  // in the process's own pid namespace; 0: no process, the sum of ended ones, or unknown
  int64_t matches = 0, bytes = 0, fallbacks = 0, fallback_bytes = 0, live_bytes = 0, peak_bytes = 0;
};

// How many sampled pages of a process were on one node: of a rule's blocks, or under the policy of the command.
struct PageNodeRow {
  int32_t rule = -1;  // -1: placed by the policy for the whole command
  int64_t pid = 0;    // with a rule as in PlacementRow, else as mlrun sees it; 0: the sum of ended ones
  std::string file;   // "": memory without a file
  int32_t node = 0;
  int64_t samples = 0, sampled = 0, bytes = 0, resident_bytes = 0;
};

// Rows by rule and process; a rule that matched no allocation has one row without a process.
std::vector<PlacementRow> placement_rows(const model::Placement& placement);

std::vector<PageNodeRow> page_node_rows(const model::Placement& placement);

}  // namespace mlrun::trace
