// SPDX-License-Identifier: Apache-2.0
// The verbs that only read traces, and the summary that the end of a run prints. Each returns the exit status.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::view {

using Arguments = std::vector<std::string>;  // the words after the verb

Result<int> report(const Arguments& arguments);
Result<int> show(const Arguments& arguments);
Result<int> list(const Arguments& arguments);

// Returns the summary for the end of a run, in the style of the stream.
Result<std::string> summary_at_end(const std::string& trace_folder, std::FILE* stream);

}  // namespace mlrun::view
