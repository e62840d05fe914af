// SPDX-License-Identifier: Apache-2.0
// What stands in a folder: a finished trace, one whose run goes on or was never finished, or none.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "runner/util/result.h"

namespace mlrun::view {

enum class TraceState { kNone, kFinished, kRunning, kUnfinished };

[[nodiscard]] TraceState state_of(const std::string& folder);

// run.json of a finished trace. Anything else is an error that says what to do.
Result<nlohmann::json> open_trace(const std::string& folder);

// Bytes of all files of a trace; of a finished one without those of the run, which are removed or kept by --keep-raw.
[[nodiscard]] int64_t size_of(const std::string& folder);

}  // namespace mlrun::view
