// SPDX-License-Identifier: Apache-2.0
// What is missing from a trace and why: the rows of the table `loss`.
#pragma once

#include <vector>

#include "runner/model/rows.h"
#include "runner/trace/mllog.h"
#include "runner/trace/offset_tracker.h"
#include "runner/trace/session_info.h"
#include "runner/trace/spool_index.h"

namespace mlrun::trace {

std::vector<model::LossRow> find_losses(SpoolIndex& index, const SessionInfo& session, const Mllog& mllog);

// When which processes lost records, so that file positions are not known from then on.
std::vector<PositionLoss> position_losses(SpoolIndex& index);

}  // namespace mlrun::trace
