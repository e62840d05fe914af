// SPDX-License-Identifier: Apache-2.0
// Reads the tables of a trace into a timeline.
#pragma once

#include <string>

#include "runner/blame/timeline/timeline.h"
#include "runner/util/result.h"

namespace mlrun::blame {

// `folder` contains tables/: call, process, thread, file, python_stack, stack, frame, and `wait` where there is a kernel side. The run is
// from start_ns to end_ns; 0: from the first to the last record.
Result<Timeline> load(const std::string& folder, Ns start_ns, Ns end_ns);

// Paths of these files.
Result<std::unordered_map<int64_t, std::string>> read_paths(const std::string& folder,
                                                            const std::vector<int64_t>& file_ids);

}  // namespace mlrun::blame
