// SPDX-License-Identifier: Apache-2.0
// Times in records of the kernel side, which are on CLOCK_MONOTONIC (0: unknown), and the kernel's page size.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runner/trace/spool/trace_clock.h"

namespace mlrun::trace {

inline constexpr int64_t kPageBytes = 4096;

inline int64_t time_of(uint64_t ns) { return TraceClock::from_monotonic(ns); }

// Begin of a record: the first known one of `moments`, but not after the end; the end if none is known.
template <typename... Moments>
int64_t begin_of(int64_t end_ns, Moments... moments) {
  int64_t begin_ns = 0;
  for (const uint64_t ns : {moments...}) {
    if (begin_ns == 0) begin_ns = time_of(ns);
  }
  return begin_ns == 0 ? end_ns : std::min(begin_ns, end_ns);
}

}  // namespace mlrun::trace
