// SPDX-License-Identifier: Apache-2.0
// mlrun import: traces of other tools become a trace.
#pragma once

#include <string>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::exchange {

using Arguments = std::vector<std::string>;

Result<int> import(const Arguments& arguments);

// `folder` must not exist, and does not exist after an error. `command`: for run.json.
Status import_files(const std::vector<std::string>& files, const std::string& folder,
                    const std::vector<std::string>& command, bool shows_progress);

}  // namespace mlrun::exchange
