// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/clock_anchor.h"

#include <chrono>
#include <thread>

#include "runner/util/clock.h"

namespace mlrun::collect {

namespace {

// CLOCK_REALTIME and CLOCK_BOOTTIME are read between two readings of CLOCK_MONOTONIC. The three clocks run at the same rate, so half the
// time between these readings corrects for the delay.
mlrun_frame_anchor read_once() {
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

mlrun_frame_anchor read_clocks() {
  mlrun_frame_anchor best = read_once();
  for (int i = 1; i < 5; i++) {
    const mlrun_frame_anchor next = read_once();
    if (next.width_ticks < best.width_ticks) best = next;
  }
  return best;
}

uint64_t ticks_in(uint64_t ns, mlrun_clock_kind kind) {
  if (kind != MLRUN_CLOCK_TSC) return ns;
  const mlrun_frame_anchor before = read_clocks();
  std::this_thread::sleep_for(std::chrono::microseconds(300));
  const mlrun_frame_anchor after = read_clocks();
  const uint64_t passed_ns = after.monotonic_ns - before.monotonic_ns;
  return passed_ns == 0 ? 0 : ns * (after.tsc - before.tsc) / passed_ns;
}

}  // namespace mlrun::collect
