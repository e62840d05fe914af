// SPDX-License-Identifier: Apache-2.0
// Times in the kernel's records, on CLOCK_MONOTONIC too, 0 is unknown; and its pages.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runner/trace/spool/trace_clock.h"

namespace mlrun::trace {

inline constexpr int64_t kPageBytes = 4096;

inline int64_t time_of(uint64_t ns) { return TraceClock::from_monotonic(ns); }

// The first known time among them, at most the end.
template <typename... Moments>
int64_t begin_of(int64_t end_ns, Moments... moments) {
  int64_t begin_ns = 0;
  for (const uint64_t ns : {moments...}) {
    if (begin_ns == 0) begin_ns = time_of(ns);
  }
  return begin_ns == 0 ? end_ns : std::min(begin_ns, end_ns);
}

}  // namespace mlrun::trace
