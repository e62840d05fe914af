// SPDX-License-Identifier: Apache-2.0
// What each rule of --place did in all processes of a run, by its run.json.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runner/model/run.h"

namespace mlrun::summary {

struct PlacedRule {
  std::string text, folder;  // folder: of --pmem; empty: not in files
  bool maps = false;         // about the program's own mappings
  bool strict = false;
  int64_t matches = 0, bytes = 0, fallbacks = 0, fallback_bytes = 0;
  int64_t peak_bytes = 0;               // at once in the largest process; of mappings not known
  int64_t resident_bytes = 0;           // of the processes whose pages were sampled
  std::map<int64_t, int64_t> bytes_on;  // by node, estimated
};

std::vector<PlacedRule> placed_rules(const model::Placement& placement);

}  // namespace mlrun::summary
