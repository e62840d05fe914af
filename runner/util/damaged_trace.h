// SPDX-License-Identifier: Apache-2.0
// One message for whatever is wrong with the files of a trace.
#pragma once

#include <string>

#include "runner/util/result.h"

namespace mlrun::util {

// The error "the trace TRACE is damaged: WHAT; ..." with advice.
[[nodiscard]] tl::unexpected<Error> damaged_trace(const std::string& trace_folder, const std::string& what);

}  // namespace mlrun::util
