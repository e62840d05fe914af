// SPDX-License-Identifier: Apache-2.0
// What the kernel side does not know of operations on files where it was told of them by system calls.
#pragma once

#include "runner/model/trace_info.h"
#include "runner/trace/spool/session_info.h"

namespace mlrun::trace {

// Whether it was.
bool told_by_system_calls(const SessionInfo& session);

// Adds rows of coverage.
void add_file_call_gaps(const SessionInfo& session, model::TraceInfo& info);

}  // namespace mlrun::trace
