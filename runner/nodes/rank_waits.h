// SPDX-License-Identifier: Apache-2.0
// How long ranks waited for other ranks: for those of their own node by the process at the end of their waits, for those of other nodes by the
// socket there, whose other end another trace has. It needs no clock.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "runner/nodes/figures.h"
#include "runner/nodes/node_trace.h"
#include "runner/nodes/streams.h"
#include "runner/summary/answer.h"
#include "runner/util/result.h"

namespace mlrun::nodes {

class RankWaits {
 public:
  explicit RankWaits(const std::vector<Connection>& connections);

  // The answer about the rank that has this place in the list of all.
  void add(const NodeTrace& node, size_t number, const summary::Answer& answer, size_t place);
  // The same of an answer that the trace holds: its sockets are in the trace's table `blame`.
  Status add_stored(const NodeTrace& node, size_t number, const summary::Answer& answer, size_t place);

  // Sets waited_ns of all, if any waited for another rank; returns whether one did.
  [[nodiscard]] bool count(const std::vector<NodeTrace>& nodes, std::vector<RankFigures>& ranks) const;

 private:
  using End = std::pair<size_t, int64_t>;  // node, file
  struct Wait {
    size_t place = 0, node = 0;  // of the waiting rank in the list of all; of the other process
    int32_t proc_id = 0;
    int64_t ns = 0;
  };
  void add_away(size_t number, int64_t file_id, int64_t ns, size_t place);

  std::map<End, std::pair<size_t, int32_t>> others_;  // of an end the other end's node and process
  std::vector<Wait> waits_;
};

}  // namespace mlrun::nodes
