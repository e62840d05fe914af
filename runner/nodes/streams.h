// SPDX-License-Identifier: Apache-2.0
// What passed through the sockets of a node that connect it with others: a connection is known by the addresses of its ends, a byte by its
// position. So a receiving call of one node is matched with the call of another one that sent its last byte.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "runner/nodes/clock_fit.h"
#include "runner/nodes/node_trace.h"
#include "runner/util/result.h"

namespace mlrun::nodes {

// Calls of one direction; those that overlap are one. Beyond some thousands neighbours are joined, which makes their bounds weaker.
struct Transfers {
  struct One {
    int64_t start_ns = 0, end_ns = 0;
    int64_t bytes_after = 0;  // of the stream
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
  int32_t proc_id = 0;  // that sent or received last; 0: none did
  Transfers sent, received;
  int64_t connect_ns = 0;   // when connect() began; 0: it did not
  int64_t accepted_ns = 0;  // when accept() returned it
};

// The sockets of each node that have their other end in another node, once for each pair of addresses. Reads the tables of files alone.
struct Connection {
  size_t node[2] = {0, 0};
  StreamEnd end[2];
};
Result<std::vector<Connection>> find_connections(const std::vector<NodeTrace>& nodes);

// Reads the calls of one node on the connections' sockets.
Status read_transfers(const NodeTrace& node, size_t number, std::vector<Connection>& connections);

// The bounds that a connection gives for the clock of its second node by that of the first, and how many messages gave them. None where bytes
// are missing from a record.
size_t add_bounds(const Connection& connection, int64_t readings_error_ns, OffsetBounds& bounds);

}  // namespace mlrun::nodes
