// SPDX-License-Identifier: Apache-2.0
// Finds accesses by page bits (accessed or soft-dirty), in windows: the bits are cleared, the program runs, the bits are read. A window is at
// least a second, and long enough that clearing, reading and the slower first accesses cost the program at most kProgramShare of the time.
// MADV_COLD clears range by range (range_pace.h).
#pragma once

#include <memory>

#include "runner/samplers/access/calibrate.h"
#include "runner/samplers/access/rung.h"

namespace mlrun::access {

struct BitsOptions {
  PageBits bits = PageBits::kClearRefs;
  PageCost cost;
  uint64_t window_ns = 1'000'000'000;
  // Windows whose clearing would delay page faults longer are left out.
  uint64_t stall_max_ns = std::numeric_limits<uint64_t>::max();
};

std::unique_ptr<Rung> make_bits_rung(const BitsOptions& options);

}  // namespace mlrun::access
