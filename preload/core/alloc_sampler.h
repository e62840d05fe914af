// SPDX-License-Identifier: Apache-2.0
// Picks the allocations that are listed with --alloc-sample. The bytes that a thread requests form a line with random
// points, one in `sample_bytes` on average (a Poisson process); a block with a point in it is listed. A block of s
// bytes is listed with probability 1 - exp(-s / sample_bytes), independent of earlier blocks, and its weight is the
// reciprocal (runner/summary/meters/sample_weight.h).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/compiler.h"

#pragma GCC visibility push(hidden)

// State of one thread. All zero: not started.
struct alloc_sampler {
  int64_t left;     // bytes up to the next point
  uint64_t random;  // state of the generator; 0: not seeded
};

extern uint64_t sample_bytes;  // 0: every block is listed

// The slow half of sampler_picks: the point is reached, or the thread has none yet.
bool sampler_passes_point(struct alloc_sampler *sampler, size_t size, uint64_t seed);

// Whether a block of `size` bytes contains a point. Requires: sample_bytes is not 0. `seed`: any value that differs
// between threads.
INLINE bool sampler_picks(struct alloc_sampler *sampler, size_t size, uint64_t seed) {
  if (!size) size = 1;
  if (likely(sampler->random && size < (size_t)INT64_MAX && (sampler->left -= (int64_t)size) > 0)) return false;
  return sampler_passes_point(sampler, size, seed);
}

#pragma GCC visibility pop
