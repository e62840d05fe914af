// SPDX-License-Identifier: Apache-2.0
// Size classes of allocations that are counted, not listed. Fine classes (usable size < 1 KiB) are 16 bytes wide and,
// with glibc's malloc, exact: its usable sizes are 24, 40, 56, ... Coarse classes keep byte sums beside the counts.
#pragma once

#include "runner/events/arena.h"

enum { MLRUN_FINE_LIMIT_BYTES = 1024, MLRUN_COARSE_FIRST_BIT = 10 };
#define MLRUN_ALLOC_MIN_LIMIT (1ull << (MLRUN_COARSE_FIRST_BIT + MLRUN_COARSE_CLASSES / 4))  // 1 GiB

// Index into mlrun_channel.fine. Requires: usable_bytes < MLRUN_FINE_LIMIT_BYTES.
static inline unsigned mlrun_fine_class(__u64 usable_bytes) { return (unsigned)(usable_bytes >> 4); }

// Index into mlrun_channel.coarse: doubling * 4 + the two bits below the leading one.
// Requires: MLRUN_FINE_LIMIT_BYTES <= usable_bytes < MLRUN_ALLOC_MIN_LIMIT.
static inline unsigned mlrun_coarse_class(__u64 usable_bytes) {
  unsigned top = 63u - (unsigned)__builtin_clzll(usable_bytes);
  return (top - MLRUN_COARSE_FIRST_BIT) * 4 + (unsigned)(usable_bytes >> (top - 2) & 3);
}

// Smallest usable size of a class. The trace names a class of either kind by this number.
static inline __u64 mlrun_fine_class_bytes(unsigned index) { return (__u64)index << 4; }
static inline __u64 mlrun_coarse_class_bytes(unsigned index) {
  return (__u64)(4 + index % 4) << (index / 4 + MLRUN_COARSE_FIRST_BIT - 2);
}
