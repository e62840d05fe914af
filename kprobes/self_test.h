// SPDX-License-Identifier: Apache-2.0
// Exercises everything that the programs record, on a scratch file, and counts the records: a program that attaches
// does not necessarily fire.
#pragma once

#include <string>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::probes {

struct TriedSignal {
  std::string name, way;
  std::string doubt;        // a sentence on what is missing or worth knowing; empty: nothing, and it was seen to work
  bool is_partial = false;  // part of it is missing
};

// Loads, tries and unloads everything. Fails when nothing can be loaded.
Result<std::vector<TriedSignal>> self_test();

}  // namespace mlrun::probes
