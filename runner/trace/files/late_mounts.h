// SPDX-License-Identifier: Apache-2.0
// File systems mounted during the run: reports the time from which the kernel side recorded operations on their files.
#pragma once

#include "runner/model/run.h"
#include "runner/model/trace_info.h"

namespace mlrun::trace {

// Adds a coverage row for each such file system.
void add_late_mounts(const model::Run& session, model::TraceInfo& info);

}  // namespace mlrun::trace
