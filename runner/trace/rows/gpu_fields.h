// SPDX-License-Identifier: Apache-2.0
// Converts a record of GPU work to its row, without columns that depend on other rows (gpu_join.h).
#pragma once

#include "runner/decode/gpu_event_view.h"
#include "runner/model/gpu_rows.h"
#include "runner/trace/index/spool_index.h"

namespace mlrun::trace {

// An api row has the tid in the process's own pid namespace; other rows have no thread yet.
model::GpuWorkRow gpu_row(const decode::GpuWorkEvent& work, const Channel& channel, SpoolIndex& index);

}  // namespace mlrun::trace
