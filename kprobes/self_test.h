// SPDX-License-Identifier: Apache-2.0
// Does what the programs are there to record, on a scratch file, and counts what came of it: a program that attaches
// does not therefore fire.
#pragma once

#include <string>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::probes {

struct TriedSignal {
  std::string name, way;
  std::string doubt;  // a sentence on what is missing or to be known of it; empty: nothing, and it was seen at work
  bool is_partial = false;  // something of it is missing
};

// Loads, tries and unloads everything. Fails where nothing can be loaded.
Result<std::vector<TriedSignal>> self_test();

}  // namespace mlrun::probes
