// SPDX-License-Identifier: Apache-2.0
// Accesses by the bits of pages, in windows: cleared, left to the program, read. A window is a second or longer, and so long that clearing,
// reading and the first accesses thereafter stay within the program's share (kProgramShare). MADV_COLD clears range by range (range_pace.h).
#pragma once

#include <memory>

#include "runner/samplers/access/calibrate.h"
#include "runner/samplers/access/rung.h"

namespace mlrun::access {

struct BitsOptions {
  PageBits bits = PageBits::kClearRefs;
  PageCost cost;
  uint64_t window_ns = 1'000'000'000;
  uint64_t stall_max_ns =
      std::numeric_limits<uint64_t>::max();  // windows that would hold page faults back longer are left out
};

std::unique_ptr<Rung> make_bits_rung(const BitsOptions& options);

}  // namespace mlrun::access
