// SPDX-License-Identifier: Apache-2.0
// Copies the tables of several traces into one: a file for each node and table, row group by row group, with moments on the first
// node's clock, keys that no two nodes share, and the column `node_id`. Memory: a row group for each thread, whatever the number of
// traces and their length.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/nodes/alignment.h"
#include "runner/nodes/node_trace.h"
#include "runner/util/result.h"

namespace mlrun::nodes {

struct CopyOptions {
  std::string folder;  // of the new trace
  unsigned threads = 1;
};

// By node and KeySpace: what was added to the keys of the node. Adds a line to `problems` for each table of a node that is left out.
Result<std::vector<std::vector<int64_t>>> copy_tables(const std::vector<NodeTrace>& nodes,
                                                      const std::vector<NodeClock>& clocks, const CopyOptions& options,
                                                      std::vector<std::string>& problems);

}  // namespace mlrun::nodes
