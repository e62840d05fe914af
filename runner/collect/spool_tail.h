// SPDX-License-Identifier: Apache-2.0
// Finds the end of a spool. Its last chunk may be partly in the file and partly still in the staging ring.
#pragma once

#include <cstdint>
#include <string>

#include "runner/events/spool.h"

namespace mlrun::collect {

struct SpoolTail {
  uint64_t end = 0;            // file offset after the last complete frame
  uint64_t collector_seq = 0;  // one more than the largest sequence number of channel 0
  uint64_t last_beat_ns = 0;   // CLOCK_MONOTONIC of the last anchor; 0: none found
  uint64_t last_clock = 0;     // the channels' clock when the last frame was written
  mlrun_frame last_frame{};    // type 0: no frame found
};

// Reads the file's bytes below `tail` and the ring's from `tail` to `head` (`ring` may be null if tail == head). Skips
// chunks without a complete frame, from the end.
SpoolTail read_spool_tail(const std::string& path, const char* ring, uint64_t tail, uint64_t head);

}  // namespace mlrun::collect
