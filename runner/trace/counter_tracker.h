// SPDX-License-Identifier: Apache-2.0
// Turns the running totals of counted allocations into rows of what changed from one look of the collector to the next.
#pragma once

#include <vector>

#include "runner/summary/flat_map.h"
#include "runner/trace/partition.h"

namespace mlrun::trace {

class CounterTracker {
 public:
  explicit CounterTracker(const ChannelTable& channels) : channels_(channels) {}

  // Fills partition.alloc_small. Requires: partitions come in the order of time.
  void apply(Partition& partition);

 private:
  void add(const ClassTotals& now, Partition& partition);

  const ChannelTable& channels_;
  summary::FlatMap<mlrun_counter_entry> before_;  // by channel and class
};

}  // namespace mlrun::trace
