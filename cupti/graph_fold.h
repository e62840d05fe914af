// SPDX-License-Identifier: Apache-2.0
// Folds nodes of CUDA graphs (kernels, copies, memsets) that come too fast to be recorded one by one: the nodes of one
// graph launch become one record, with their number and the sum of their times.
//
//   node ── rate ──▶ below the limit: one record for the node
//             └────▶ above: added to the fold of its launch ── no node for a second, or place needed ──▶ one record
//
// A token bucket limits the rate: N nodes a second (graph_nodes_per_s), and N more in a burst. Whether a launch is
// folded depends only on its correlation id, which rises from launch to launch: all of its nodes or none, in whatever
// order they arrive. A node is in exactly one record. A launch has several records if its nodes come more than a second
// apart, or if another launch took its place in the table.
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
  struct graph_node first;  // its `time`: from the first node's start to the last node's end
  uint64_t busy_ns;         // sum of the nodes' durations
  uint64_t last_node;       // number of its last node, counted over the nodes of all folds
  uint32_t nodes;           // how many; 0: this place is free
};

// True: the node was added to a fold, and the caller must not record it.
bool fold_graph_node(const struct graph_node *node);

// No node is folded from now on. Called before folds are written for the last time, at the end of the process, or if
// there is no flusher, which would write them.
void stop_folding(void);

// Writes the records of folds that have got no node since the last call; `everything`: of all folds. Returns the
// earliest start of the remaining folds; UINT64_MAX: none remain.
uint64_t put_folds(bool everything);

#pragma GCC visibility pop
