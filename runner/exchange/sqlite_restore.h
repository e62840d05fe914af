// SPDX-License-Identifier: Apache-2.0
// Restores a trace from a database that `mlrun export --to sqlite` wrote: every table with its columns and their types, and run.json.
#pragma once

#include <string>

#include "runner/util/result.h"

namespace mlrun::exchange {

[[nodiscard]] bool is_own_database(const std::string& path);

// `folder` exists and is empty.
Status restore_trace(const std::string& path, const std::string& folder);

}  // namespace mlrun::exchange
