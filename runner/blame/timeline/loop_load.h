// SPDX-License-Identifier: Apache-2.0
// Reads from table `python_stack` how far a thread's Python loops had got at each sample.
#pragma once

#include <string>

#include "runner/blame/timeline/timeline.h"
#include "runner/util/result.h"

namespace mlrun::blame {

// Requires: threads are loaded. Traces of versions before the column `loops` add nothing.
Status load_loops(const std::string& folder, Timeline& timeline);

}  // namespace mlrun::blame
