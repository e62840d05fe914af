// SPDX-License-Identifier: Apache-2.0
// File systems mounted during the run: from when on the kernel side recorded operations on their files.
#pragma once

#include "runner/model/trace_info.h"
#include "runner/trace/spool/session_info.h"

namespace mlrun::trace {

// Adds rows of coverage.
void add_late_mounts(const SessionInfo& session, model::TraceInfo& info);

}  // namespace mlrun::trace
