// SPDX-License-Identifier: Apache-2.0
// Folds nodes of CUDA graphs (kernels, copies, memsets) that come too fast to be recorded one by one: those of one
// launch become one record, the launch as a whole with its number of nodes and the sum of their times.
//
//   node ── rate ──▶ below: a record of its own
//             └────▶ above: fold of its launch ── no node for a second, or no place ──▶ record
//
// The rate is that of a token bucket: so many nodes a second, and as many again in a burst. Whether a launch is folded
// depends only on its correlation id, which rises from launch to launch: all of its nodes or none, in whatever order
// they arrive. A node is in exactly one record; a launch whose nodes come more than a second apart, or that lost its
// place, has several.
//
// Kernels of NCCL are not folded: they show whether a GPU works or waits for another one.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cupti/work_time.h"

#pragma GCC visibility push(hidden)

struct graph_node {
  uint32_t graph, correlation, device, context, stream;
  struct work_time time;
};

// The nodes of one launch on one device, with times of one clock.
struct graph_fold {
  struct graph_node first;  // time: from the first start to the last end
  uint64_t busy_ns;         // of all nodes, added up
  uint64_t last_node;       // which of all folded nodes was the last
  uint32_t nodes;           // 0: a free place
};

// True: the node is in a fold and must have no record of its own.
bool fold_graph_node(const struct graph_node *node);

// From now on no node is folded: the process ends, and folds are recorded for the last time.
void stop_folding(void);

// Writes the records of launches without a node since the last call, or of all. Returns when the first of the others
// began; UINT64_MAX: there are none.
uint64_t put_folds(bool everything);

#pragma GCC visibility pop
