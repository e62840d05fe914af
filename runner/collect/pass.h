// SPDX-License-Identifier: Apache-2.0
// The moment of one collector pass, and the clock that recording threads stamp with.
#pragma once

#include <cstdint>

#include "runner/util/clock.h"

namespace mlrun::collect {

struct ChannelClock {
  mlrun_clock_kind kind = MLRUN_CLOCK_TSC;
  // Not 0: the machine was rebooted after the threads recorded. This is the last known value of their clock; pids in
  // /proc now belong to other processes.
  uint64_t stopped_at = 0;

  [[nodiscard]] bool stopped() const { return stopped_at != 0; }
  [[nodiscard]] uint64_t now() const { return stopped() ? stopped_at : util::stamp(kind); }
};

struct Pass {
  uint64_t now_ns = 0;        // CLOCK_MONOTONIC
  uint64_t clock = 0;         // the channels' clock, before the pass read anything
  uint64_t clock_before = 0;  // `clock` of the previous pass
  bool last = false;          // recording has stopped: unfinished records stay unfinished
};

}  // namespace mlrun::collect
