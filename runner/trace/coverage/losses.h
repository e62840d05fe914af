// SPDX-License-Identifier: Apache-2.0
// What is missing from a trace and why: the rows of the table `loss`.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runner/events/sums.h"
#include "runner/model/rows.h"
#include "runner/trace/index/spool_index.h"
#include "runner/trace/marks/mllog.h"
#include "runner/trace/spool/session_info.h"

namespace mlrun::trace {

// Losses noticed while rows were made.
struct RowLosses {
  uint64_t damaged_samples = 0;
  uint64_t ranges_left_out = 0;
  uint64_t damaged_python_rows = 0, python_rows_without_stack = 0;
};

std::vector<model::LossRow> find_losses(SpoolIndex& index, const SessionInfo& session, const Mllog& mllog,
                                        const RowLosses& noticed);

// With --summary-only: what was summed up between the last write of the sums and the death of mlrun.
std::optional<model::LossRow> unsaved_loss(const SessionInfo& session, const mlrun_frame_sums_state& state);

}  // namespace mlrun::trace
