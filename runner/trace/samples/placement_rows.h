// SPDX-License-Identifier: Apache-2.0
// The rules of --place and what became of them, from run.json.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/model/run.h"

namespace mlrun::trace {

// What one process did by one rule.
struct PlacementRow {
  int32_t rule = 0;  // as given: the first is 0
  std::string text;
  int64_t pid = 0;  // as the process sees it; 0: the rule fitted nothing in any process
  int64_t matches = 0, bytes = 0, fallbacks = 0, fallback_bytes = 0, live_bytes = 0, peak_bytes = 0;
};

// Where the pages of a rule's blocks were in one process.
struct PageNodeRow {
  int32_t rule = 0;
  int64_t pid = 0;
  int32_t node = 0;
  int64_t looks = 0, sampled = 0, bytes = 0, resident_bytes = 0;
};

// By rule and process; a rule that fitted nothing has one row without a process.
std::vector<PlacementRow> placement_rows(const model::Placement& placement);

std::vector<PageNodeRow> page_node_rows(const model::Placement& placement);

}  // namespace mlrun::trace
