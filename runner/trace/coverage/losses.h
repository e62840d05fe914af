// SPDX-License-Identifier: Apache-2.0
// The rows of the table `loss`: records that are missing from a trace, and why.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runner/events/sums.h"
#include "runner/model/rows.h"
#include "runner/model/run.h"
#include "runner/trace/index/spool_index.h"
#include "runner/trace/marks/mllog.h"

namespace mlrun::trace {

// Losses that the merger found while it made rows.
struct RowLosses {
  uint64_t damaged_samples = 0;
  uint64_t ranges_left_out = 0;
  uint64_t damaged_python_rows = 0, python_rows_without_stack = 0;
};

std::vector<model::LossRow> find_losses(SpoolIndex& index, const model::Run& session, const Mllog& mllog,
                                        const RowLosses& noticed);

// With --summary-only: the records that mlrun summed up after it last wrote the sums and before it was killed. nullopt:
// none.
std::optional<model::LossRow> unsaved_loss(const model::Run& session, const mlrun_frame_sums_state& state);

}  // namespace mlrun::trace
