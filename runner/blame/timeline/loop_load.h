// SPDX-License-Identifier: Apache-2.0
// Reads how far the loops of Python code had got at each sample of a thread's stack.
#pragma once

#include <string>

#include "runner/blame/timeline/timeline.h"
#include "runner/util/result.h"

namespace mlrun::blame {

// Requires: threads are loaded. A trace of an earlier version has no loops.
Status load_loops(const std::string& folder, Timeline& timeline);

}  // namespace mlrun::blame
