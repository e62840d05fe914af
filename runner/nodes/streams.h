// SPDX-License-Identifier: Apache-2.0
// The bytes that passed through sockets between nodes. The addresses of its ends identify a connection, its position in the stream a byte. So a
// receiving call of one node is matched with the call of another node that sent its last byte.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "runner/nodes/clock_fit.h"
#include "runner/nodes/node_trace.h"
#include "runner/util/result.h"

namespace mlrun::nodes {

// Calls of one direction of a connection; calls that overlap are one. Beyond `most` calls neighbours are joined, which makes their bounds weaker.
struct Transfers {
  struct One {
    int64_t start_ns = 0, end_ns = 0;
    int64_t bytes_after = 0;  // of the stream, up to the end of these calls
  };
  std::vector<One> list;
  int64_t bytes = 0;
  size_t most = 4096;

  void add(int64_t start_ns, int64_t end_ns, int64_t bytes);

 private:
  size_t stride_ = 1, in_last_ = 0;
};

struct StreamEnd {
  int64_t file_id = 0;
  std::string own, other;
  int32_t proc_id = 0;  // the process that sent or received last; 0: none did
  Transfers sent, received;
  int64_t connect_ns = 0;   // when connect() began; 0: not called at this end
  int64_t accepted_ns = 0;  // when accept() returned it; 0: not called at this end
};

// A connection between two nodes: a socket of each, matched by the addresses of both. find_connections() reads only the tables `file`.
struct Connection {
  size_t node[2] = {0, 0};
  StreamEnd end[2];
};
Result<std::vector<Connection>> find_connections(const std::vector<NodeTrace>& nodes);

// Reads the calls of one node on the connections' sockets.
Status read_transfers(const NodeTrace& node, size_t number, std::vector<Connection>& connections);

// Adds the bounds that a connection gives for the clock of its second node relative to that of the first. Returns how many messages gave them;
// 0 if it is no stream that one end accepted, or if a trace lacks calls of it.
size_t add_bounds(const Connection& connection, int64_t readings_error_ns, OffsetBounds& bounds);

}  // namespace mlrun::nodes
