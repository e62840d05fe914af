// SPDX-License-Identifier: Apache-2.0
// The folder that a run's trace goes into.
#pragma once

#include <optional>
#include <string>

#include "runner/util/result.h"

namespace mlrun::launch {

// Refuses a folder or file that holds something already: nothing is overwritten, and the command has not started yet.
Status check_asked_folder(const std::optional<std::string>& asked);

// Makes the folder (0755) and returns its absolute path. Never one that holds something: an asked-for folder must not
// exist, or be empty; else it is mlrun-NAME-N with the first free N, in the current folder. NAME is the file name in `name`
// (trace_name.h), with - for all but letters, digits and . _ +.
Result<std::string> make_trace_folder(const std::optional<std::string>& asked, const std::string& name);

}  // namespace mlrun::launch
