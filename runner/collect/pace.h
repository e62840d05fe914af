// SPDX-License-Identifier: Apache-2.0
// Decides when the next pass runs. Aims at eight segments per pass: a busy thread then reuses a few warm segments, and
// an idle program costs twenty passes a second.
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

  // Sleeps between 1 and 50 ms, or not at all while the pool is short. `released`: segments freed by the pass.
  void sleep(uint32_t released, const SegmentPool& pool, bool hurry);

 private:
  mlrun_control& control_;
  uint32_t wake_word_ = 0;
  uint64_t sleep_ns_ = 1'000'000;
};

}  // namespace mlrun::collect
