// SPDX-License-Identifier: Apache-2.0
// From a record of GPU work to its row, without what depends on other rows (gpu_join.h).
#pragma once

#include "runner/decode/gpu_event_view.h"
#include "runner/model/gpu_rows.h"
#include "runner/trace/index/spool_index.h"

namespace mlrun::trace {

// An api row's tid is as the process sees it; of work on the GPU no thread is known yet.
model::GpuWorkRow gpu_row(const events::GpuWorkEvent& work, const Channel& channel, SpoolIndex& index);

}  // namespace mlrun::trace
