// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/kernel_follower.h"

#include "runner/decode/kernel_view.h"
#include "runner/trace/kernel/file_op_table.h"
#include "runner/trace/spool/trace_clock.h"

namespace mlrun::trace {

namespace {

constexpr int64_t kAheadNs = 2'000'000'000;  // maximum time from a call's end to the end of a fragment it waited for

}  // namespace

void KernelFollower::add_frame() {
  decode::KernelReader reader(frame_.payload, frame_.header.payload_bytes);
  while (reader.next()) {
    reader.visit(
        [&](const auto& record) requires requires { window_.add(record); } { window_.add(record); });
  }
}

// Stops at a read error of the spool; KernelMerge::write() meets the same error later and reports it.
void KernelFollower::advance(int64_t until_ns) {
  while (!ended_ && reached_ns_ < until_ns) {
    const auto more = cursor_.next(frame_);
    ended_ = !more || !*more;
    if (ended_ || frame_.header.type != MLRUN_FRAME_KERNEL) continue;
    add_frame();
    reached_ns_ = TraceClock::from_monotonic(frame_.header.first);
  }
}

std::optional<model::CallSplit> KernelFollower::split(const FileOpRow& row, bool syncs) {
  advance((row.done ? row.done->time_ns : row.end_ns) + kAheadNs);
  return splitter_.split(row, syncs);
}

void KernelFollower::split(SliceRows& slice_rows) {
  slice_rows.splits.resize(slice_rows.calls.size());
  for (const RowRef& ref : slice_rows.order) {
    if (ref.kind != RowKind::kCall) continue;
    model::CallRow& row = slice_rows.calls[ref.index];
    advance(row.origin.ts_ns + row.dur_ns + kAheadNs);
    const auto split = splitter_.split(row);
    if (!split) continue;
    slice_rows.splits[ref.index] = *split;
    row.split = &slice_rows.splits[ref.index];
  }
}

}  // namespace mlrun::trace
