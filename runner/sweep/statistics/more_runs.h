// SPDX-License-Identifier: Apache-2.0
// How many more runs would give a verdict.
#pragma once

#include <cstdint>
#include <optional>

#include "runner/sweep/statistics/statistics.h"

namespace mlrun::sweep {

// Runs a side beyond `n` after which a verdict at `alpha` has a chance of 80 %, if difference and spread are what they were so far.
// `low` and `high` are the margin. Nothing where a million would not do.
std::optional<int64_t> more_runs(double difference, const Spread& spread, Interval margin, int64_t n, double alpha);

}  // namespace mlrun::sweep
