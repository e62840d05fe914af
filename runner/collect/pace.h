// SPDX-License-Identifier: Apache-2.0
// Decides when the collector's next pass runs. Aims at eight freed segments per pass: a busy thread then reuses a few
// segments that are still cached. For an idle program there are twenty passes a second.
#pragma once

#include <cstdint>

#include "runner/collect/segment_pool.h"
#include "runner/events/arena.h"

namespace mlrun::collect {

class Pace {
 public:
  explicit Pace(mlrun_control& control) : control_(control) {}

  // To be called before each pass: a wakeup after this call shortens the next sleep.
  void begin_pass();

  // Sleeps between 1 and 50 ms, or not at all while free segments are short. `released`: segments freed by the pass.
  // `hurry`: sleeps 1 ms at most.
  void sleep(uint32_t released, const SegmentPool& pool, bool hurry);

 private:
  mlrun_control& control_;
  uint32_t wake_word_ = 0;
  uint64_t sleep_ns_ = 1'000'000;
};

}  // namespace mlrun::collect
