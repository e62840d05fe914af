// SPDX-License-Identifier: Apache-2.0
// The clock of each node relative to that of the first node, along the pairs of nodes whose offset is known best.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runner/nodes/clock_fit.h"
#include "runner/nodes/moments.h"
#include "runner/nodes/node_trace.h"
#include "runner/nodes/streams.h"
#include "runner/util/result.h"

namespace mlrun::nodes {

inline constexpr int64_t kUnknownError = -1;

// How a node's clock is known, the best first.
enum class AlignedBy { kItself, kSameClock, kGiven, kMoments, kUtcBound, kUtc };
inline constexpr const char* kAlignedByNames[] = {"reference", "same clock", "given",
                                                  "messages",  "utc",        "utc unbounded"};

struct NodeClock {
  ClockLine line = ClockLine::constant(0, 0);  // this clock relative to the first node's
  AlignedBy by = AlignedBy::kItself;
  std::string through;  // name of the node that it was compared with
  size_t messages = 0;  // matched with that node: over sockets; below: collectives and marks
  size_t collectives = 0, marks = 0;
  bool is_bounded = true;  // false: the error is unknown

  [[nodiscard]] int64_t error_ns(int64_t at_ns) const { return is_bounded ? line.error_ns(at_ns) : kUnknownError; }
};

struct AlignmentOptions {
  std::string marks;                 // name of ranges that are barriers; empty: none
  std::optional<int64_t> offset_ns;  // added to the times of the last trace, which is not aligned otherwise
};

struct Alignment {
  std::vector<NodeClock> clocks;        // of each node
  std::unique_ptr<Moments> moments;     // collectives and marks, by each node's own clock
  std::vector<Connection> connections;  // between nodes, without their transfers
};

// Drops nodes whose clock nothing relates to the first node's, with a line in traces.left_out. Fails if --offset is given for other than two traces.
Result<Alignment> align(NodeTraces& traces, const AlignmentOptions& options);

}  // namespace mlrun::nodes
