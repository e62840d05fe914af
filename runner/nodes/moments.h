// SPDX-License-Identifier: Apache-2.0
// Moments that ranks of several nodes have in common: what each of them begins before any of them ends it. Collectives by communicator and
// number, and ranges that the user names as barriers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runner/nodes/clock_fit.h"
#include "runner/nodes/node_trace.h"
#include "runner/util/result.h"

namespace mlrun::nodes {

struct Moment {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;  // 0: unknown, as of a collective whose kernel was not recorded
};

// Of one process, by number.
struct MomentSeries {
  int32_t proc_id = 0;
  std::map<int64_t, Moment> moments;
};

// Key: communicator and operation, or the name of the marks.
using Moments = std::map<std::pair<std::string, std::string>, std::vector<MomentSeries>>;

// Collectives that no rank leaves before all have entered. Their end is that of their kernel: the call itself only enqueues them.
Result<Moments> collectives_of(const NodeTrace& node);

// Ranges of this name, numbered in each process. Fails if there are none.
Result<Moments> marks_of(const NodeTrace& node, const std::string& name);

// Bounds for the clock of the second node by that of the first; returns how many moments gave them.
size_t add_bounds(const Moments& first, const Moments& second, int64_t readings_error_ns, OffsetBounds& bounds);

}  // namespace mlrun::nodes
