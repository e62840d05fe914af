// SPDX-License-Identifier: Apache-2.0
// How long the driver waited and computed in each phase of the training, from table `blame`.
#pragma once

#include <string>
#include <vector>

#include "runner/model/rows.h"
#include "runner/util/result.h"

namespace mlrun::summary {

// Fills wait_ns and compute_ns. Without the table they stay unknown.
Status add_phase_times(const std::string& trace_folder, std::vector<model::PhaseRow>& phases);

}  // namespace mlrun::summary
