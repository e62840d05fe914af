// SPDX-License-Identifier: Apache-2.0
// The state of a folder: a finished trace, a running or unfinished one, or no trace.
#pragma once

#include <cstdint>
#include <string>

#include "runner/model/run.h"
#include "runner/util/result.h"

namespace mlrun::view {

enum class TraceState { kNone, kFinished, kRunning, kUnfinished };

[[nodiscard]] TraceState state_of(const std::string& folder);

// The run of a finished trace. For any other folder an error that says what to do.
Result<model::Run> open_trace(const std::string& folder);

// Size of all files of a trace. Raw files of a finished trace do not count: they are deleted, or kept by --keep-raw.
[[nodiscard]] int64_t size_of(const std::string& folder);

}  // namespace mlrun::view
