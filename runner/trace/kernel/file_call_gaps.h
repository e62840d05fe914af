// SPDX-License-Identifier: Apache-2.0
// What the kernel side misses if it recorded file operations by system calls.
#pragma once

#include "runner/model/trace_info.h"
#include "runner/trace/spool/session_info.h"

namespace mlrun::trace {

// Whether file operations were recorded by system calls.
bool recorded_by_system_calls(const SessionInfo& session);

// Adds rows of coverage.
void add_file_call_gaps(const SessionInfo& session, model::TraceInfo& info);

}  // namespace mlrun::trace
