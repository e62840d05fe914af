// SPDX-License-Identifier: Apache-2.0
// Converts running totals of counted allocations to rows of the change between two readings by the collector.
#pragma once

#include <vector>

#include "runner/trace/rows/slice_rows.h"
#include "runner/util/flat_map.h"

namespace mlrun::trace {

class CounterTracker {
 public:
  explicit CounterTracker(const SpoolChannels& channels) : channels_(channels) {}

  // Sets the totals that a channel starts from. Requires: apply() was not called yet.
  void begin_at(uint64_t serial, const mlrun_counter_entry& totals) {
    before_.at(util::scrambled(serial, totals.class_bytes)) = totals;
  }

  // Fills slice_rows.alloc_small. Requires: slices in order of time.
  void apply(SliceRows& slice_rows);

 private:
  void add(const ClassTotals& now, SliceRows& slice_rows);
  bool is_baseline(const ClassTotals& now);

  const SpoolChannels& channels_;
  util::FlatMap<mlrun_counter_entry> before_;  // by channel and class
  util::FlatMap<int64_t> first_readings_;      // by channel whose first frames were freed
};

}  // namespace mlrun::trace
