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

// The summary of a finished trace, in the style of the stream.
// driver_tid: the thread whose time is divided; 0: the one that was found.
Result<std::string> summary_text(const std::string& trace_folder, std::FILE* stream, int32_t driver_tid = 0);

}  // namespace mlrun::view
