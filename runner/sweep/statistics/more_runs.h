// SPDX-License-Identifier: Apache-2.0
// How many more runs would give a verdict.
#pragma once

#include <cstdint>
#include <optional>

#include "runner/sweep/statistics/statistics.h"

namespace mlrun::sweep {

// How many runs each side needs beyond its `n` until a verdict at `alpha` has a chance of 80 %, if the true difference and spread are
// those seen so far. `margin`: the differences that count as equal. nullopt: a million runs would be too few, or the
// difference or the spread is unknown.
std::optional<int64_t> more_runs(double difference, const Spread& spread, Interval margin, int64_t n, double alpha);

}  // namespace mlrun::sweep
