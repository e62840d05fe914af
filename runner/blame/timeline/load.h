// SPDX-License-Identifier: Apache-2.0
// Reads the tables of a trace into a timeline.
#pragma once

#include <string>

#include "runner/blame/timeline/timeline.h"
#include "runner/util/result.h"

namespace mlrun::blame {

// `folder` contains tables/: call, process, thread, file, python_stack, stack, frame, sample_thread, and `wait` if the kernel was traced. The
// run lasts from start_ns (0: when the first process began) to end_ns (0: when the last one ended).
Result<Timeline> load(const std::string& folder, Ns start_ns, Ns end_ns);

// Returns the paths of the given files by file_id.
Result<std::unordered_map<int64_t, std::string>> read_paths(const std::string& folder,
                                                            const std::vector<int64_t>& file_ids);

}  // namespace mlrun::blame
