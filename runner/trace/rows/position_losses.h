// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "runner/trace/index/spool_index.h"
#include "runner/trace/spool/loss_count.h"

namespace mlrun::trace {

// When processes lost records, so that file positions are unknown from then on.
std::vector<PositionLoss> position_losses(SpoolIndex& index);

}  // namespace mlrun::trace
