// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/clock_anchor.h"

#include "runner/util/clock.h"

namespace mlrun::collect {

namespace {

// The other clocks are bracketed by CLOCK_MONOTONIC itself: they count the same ticks, off by whole adjustments.
mlrun_frame_anchor look_once() {
  mlrun_frame_anchor anchor{};
  const uint64_t before = __rdtsc();
  anchor.monotonic_ns = util::monotonic_ns();
  const uint64_t after = __rdtsc();
  anchor.width_ticks = after - before;
  anchor.tsc = before + anchor.width_ticks / 2;
  anchor.realtime_ns = util::realtime_ns();
  anchor.boottime_ns = util::boottime_ns();
  const uint64_t late_ns = (util::monotonic_ns() - anchor.monotonic_ns) / 2;
  anchor.realtime_ns -= late_ns;
  anchor.boottime_ns -= late_ns;
  return anchor;
}

}  // namespace

mlrun_frame_anchor look_at_clocks() {
  mlrun_frame_anchor best = look_once();
  for (int i = 1; i < 5; i++) {
    const mlrun_frame_anchor next = look_once();
    if (next.width_ticks < best.width_ticks) best = next;
  }
  return best;
}

}  // namespace mlrun::collect
