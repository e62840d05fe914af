// SPDX-License-Identifier: Apache-2.0
// The folder of a sweep, OUT of `mlrun sweep PLAN -o OUT`, as all programs know it: by the database in it.
#pragma once

#include <string>

#include "runner/util/result.h"

namespace mlrun::session {

inline constexpr const char* kSweepDatabase = "sweep.sqlite";

[[nodiscard]] bool is_sweep(const std::string& folder);

// The error for a folder that is not a sweep; names `mlrun list`.
tl::unexpected<Error> no_sweep(const std::string& folder);

}  // namespace mlrun::session
