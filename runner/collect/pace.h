// SPDX-License-Identifier: Apache-2.0
// When the collector looks again. It aims at eight segments a pass: then a busy thread keeps reusing a few warm
// segments, and an idle program costs twenty looks a second.
#pragma once

#include <cstdint>

#include "runner/collect/segment_pool.h"
#include "runner/events/arena.h"

namespace mlrun::collect {

class Pace {
 public:
  explicit Pace(mlrun_control& control) : control_(control) {}

  // Call it before each pass: what wakes the collector from here on cuts the next sleep short.
  void begin_pass();

  // Sleeps between 1 and 50 ms, or not at all while the pool is short. `released` is what the pass gave back.
  void sleep(uint32_t released, const SegmentPool& pool, bool hurry);

 private:
  mlrun_control& control_;
  uint32_t wake_word_ = 0;
  uint64_t sleep_ns_ = 1'000'000;
};

}  // namespace mlrun::collect
