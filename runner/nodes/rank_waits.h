// SPDX-License-Identifier: Apache-2.0
// How long ranks waited for other ranks. A wait that ends at a process of the node is for this process's rank; a wait that ends at a socket is
// for the process at the socket's other end, which the trace of another node has. No clocks are compared.
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

  // Adds the waits of one rank: `answer` is about it, `number` is its node, `place` its index in the list of all ranks.
  void add(const NodeTrace& node, size_t number, const summary::Answer& answer, size_t place);
  // The same for an answer that is stored in the trace: its waits at sockets are in the trace's table `blame`.
  Status add_stored(const NodeTrace& node, size_t number, const summary::Answer& answer, size_t place);

  // Sets waited_ns of all ranks if any rank waited for another one; returns whether one did.
  [[nodiscard]] bool count(const std::vector<NodeTrace>& nodes, std::vector<RankFigures>& ranks) const;

 private:
  using End = std::pair<size_t, int64_t>;  // node, file
  struct Wait {
    size_t place = 0, node = 0;  // index of the waiting rank; node of the process waited for
    int32_t proc_id = 0;
    int64_t ns = 0;
  };
  void add_away(size_t number, int64_t file_id, int64_t ns, size_t place);

  std::map<End, std::pair<size_t, int32_t>> others_;  // by end of a connection: node and process of the other end
  std::vector<Wait> waits_;
};

}  // namespace mlrun::nodes
