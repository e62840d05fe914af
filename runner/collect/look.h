// SPDX-License-Identifier: Apache-2.0
// One pass's point of view, and the clock that recording threads stamp with.
#pragma once

#include <cstdint>

#include "runner/util/clock.h"

namespace mlrun::collect {

struct ChannelClock {
  mlrun_clock_kind kind = MLRUN_CLOCK_TSC;
  // Not 0: the machine was started anew since the threads recorded. Their clock stands where it was last seen, and what
  // /proc says is about others.
  uint64_t stopped_at = 0;

  [[nodiscard]] bool stopped() const { return stopped_at != 0; }
  [[nodiscard]] uint64_t now() const { return stopped() ? stopped_at : util::stamp(kind); }
};

struct Look {
  uint64_t now_ns = 0;        // CLOCK_MONOTONIC
  uint64_t clock = 0;         // the channels' clock, before anything was read
  uint64_t clock_before = 0;  // the same in the pass before
  bool last = false;          // nobody records any more: what is not finished never will be
};

}  // namespace mlrun::collect
