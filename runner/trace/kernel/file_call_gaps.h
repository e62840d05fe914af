// SPDX-License-Identifier: Apache-2.0
// Coverage rows about file operations that the system call fallback cannot record.
#pragma once

#include "runner/model/run.h"
#include "runner/model/trace_info.h"

namespace mlrun::trace {

// Whether the kernel side recorded file operations by system calls, not by functions of the kernel.
bool recorded_by_system_calls(const model::Run& session);

// Adds the rows if file operations were recorded by system calls.
void add_file_call_gaps(const model::Run& session, model::TraceInfo& info);

}  // namespace mlrun::trace
