// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/rows/counter_tracker.h"

#include <algorithm>

#include "runner/events/alloc_class.h"

namespace mlrun::trace {

namespace {

constexpr size_t kClassesMax = size_t{1} << 22;  // of all channels together
// A fine class is 16 bytes wide. glibc's usable sizes are exactly its middle; for other allocators it is the mean.
constexpr int64_t kMiddleOfFineClass = 8;

// Clamps, so that a run's sum cannot overflow whatever the spool contains.
int64_t difference(uint64_t now, uint64_t before) {
  constexpr int64_t kMost = int64_t{1} << 44;
  return std::clamp(static_cast<int64_t>(now - before), -kMost, kMost);
}

}  // namespace

void CounterTracker::apply(SliceRows& slice_rows) {
  for (RowRef& ref : slice_rows.order) {
    if (ref.kind != RowKind::kCounters) continue;
    const ClassTotals& now = slice_rows.counters[ref.index];
    ref.index = static_cast<uint32_t>(slice_rows.alloc_small.size());
    add(now, slice_rows);
  }
}

// Counts before a channel's first kept reading are not part of the trace. That reading contains all classes.
bool CounterTracker::is_baseline(const ClassTotals& now) {
  const Channel& channel = channels_.all()[now.channel];
  if (!channel.begins_late) return false;
  bool made = false;
  int64_t& first_ns = first_readings_.at(util::scrambled(channel.serial), &made);
  if (made) first_ns = now.ts_ns;
  return now.ts_ns == first_ns;
}

// Every reading makes a row, which keeps references to rows simple; that of an unchanged class is all zero.
void CounterTracker::add(const ClassTotals& now, SliceRows& slice_rows) {
  const uint64_t key = util::scrambled(channels_.all()[now.channel].serial, now.totals.class_bytes);
  if (before_.size() > kClassesMax) before_.clear();
  mlrun_counter_entry& before = before_.at(key);
  if (is_baseline(now)) before = now.totals;
  model::AllocSmallRow& row = slice_rows.alloc_small.emplace_back();
  row.origin = channels_.all()[now.channel].origin;
  row.origin.ts_ns = now.ts_ns;
  row.class_bytes = static_cast<int64_t>(now.totals.class_bytes);
  row.mallocs = difference(now.totals.allocs, before.allocs);
  row.frees = difference(now.totals.frees, before.frees);
  if (now.totals.class_bytes < MLRUN_FINE_LIMIT_BYTES) {
    row.bytes = (row.mallocs - row.frees) * (row.class_bytes + kMiddleOfFineClass);
  } else {
    row.bytes =
        difference(now.totals.alloc_bytes, before.alloc_bytes) - difference(now.totals.free_bytes, before.free_bytes);
  }
  before = now.totals;
}

}  // namespace mlrun::trace
