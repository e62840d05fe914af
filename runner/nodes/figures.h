// SPDX-License-Identifier: Apache-2.0
// The figures of a merged trace: of each rank, each node and file system, and of what ranks do together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/nodes/alignment.h"
#include "runner/nodes/node_trace.h"
#include "runner/summary/answer.h"
#include "runner/util/result.h"

namespace mlrun::nodes {

// One rank of a trace. A trace without ranks has one row, for its driver.
struct RankFigures {
  size_t node = 0;
  int32_t rank = -1, local_rank = -1;  // -1: no rank
  int32_t proc_id = 0;                 // in its own trace
  int32_t attempt = 1, age = 0;        // as in Rank
  int64_t wall_ns = 0;                 // 0: no driver is known; all below but last_times and late_ns is unknown
  int64_t startup_ns = 0, without_batch_ns = -1, compute_ns = 0;
  int64_t waited_ns =
      0;  // for other ranks, if any wait is known to be for one; else in all waits that no thread of the node ended
  int64_t last_times = 0,
          late_ns = 0;  // how often it began a collective or barrier last, and by how much after the rank before it
  std::string cause, claim;  // of its first finding; empty: none
  std::vector<summary::TimeShare> time;
};

struct BytesFigures {
  size_t node = 0;
  std::string file_system;  // empty: unknown, or files beyond the listed ones
  int64_t files = 0, bytes_read = 0, bytes_written = 0, time_ns = 0;
};

// How far apart in time ranks began the collectives and marks that all ranks of the merged traces have.
struct SkewFigures {
  std::string communicator, operation;  // of marks: their name, and "mark"
  int64_t compared = 0;
  int64_t p50_ns = 0, p99_ns = 0, max_ns = 0;  // from the first rank's beginning to the last one's
  int64_t error_ns = 0;                        // of each of these; -1: unknown
  int32_t last_rank = -1;
  int64_t last_times = 0;
  int32_t age = 0;  // of the ranks' attempt
};

struct SlowestRank {
  int32_t rank = -1;  // -1: none stands out
  size_t node = 0;
  std::string known_by;  // collectives, marks, messages, waiting
  std::string why;       // one sentence
};

struct Figures {
  std::vector<RankFigures> ranks;  // by node, then rank
  std::vector<BytesFigures> bytes;
  std::vector<SkewFigures> skews;
  SlowestRank slowest;
};

// Adds a line to traces.problems for each rank whose figures cannot be made.
Result<Figures> figures_of(NodeTraces& traces, const Alignment& alignment);

}  // namespace mlrun::nodes
