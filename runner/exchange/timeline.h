// SPDX-License-Identifier: Apache-2.0
// All rows of a trace that have a place on a time line, as tracks, slices, points, counters and arrows for a sink.
#pragma once

#include "runner/exchange/export.h"
#include "runner/exchange/timeline_sink.h"

namespace mlrun::exchange {

// Counts every row of every table in the account.
Status write_timeline(Export& job, TimelineSink& sink);

}  // namespace mlrun::exchange
