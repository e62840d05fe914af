// SPDX-License-Identifier: Apache-2.0
// Reads the command's MLLOG files before the merge. If several processes wrote one, also reads the calls that wrote it,
// to assign its lines to the processes.
#pragma once

#include <cstdint>

#include "runner/model/file_table.h"
#include "runner/trace/index/spool_index.h"
#include "runner/trace/marks/mllog.h"
#include "runner/trace/spool/session_info.h"

namespace mlrun::trace {

// Reads all rows of the spool once, at most rows_at_once at a time, if several processes may have written a log.
[[nodiscard]] Mllog read_logs(SpoolIndex& index, const SessionInfo& session, const model::FileTable& files,
                              uint64_t rows_at_once);

}  // namespace mlrun::trace
