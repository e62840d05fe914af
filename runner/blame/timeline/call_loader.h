// SPDX-License-Identifier: Apache-2.0
// Adds the rows of table `call` to a timeline: waits and messages one by one, all other calls as sums.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/blame/timeline/timeline.h"
#include "runner/util/result.h"

namespace mlrun::blame {

// Requires: processes, threads, kinds of files and stack samples are loaded. `modules`: by file_id, 1 if the file is code.
Status load_calls(const std::string& folder, const std::vector<uint8_t>& modules, Timeline& timeline);

}  // namespace mlrun::blame
