// SPDX-License-Identifier: Apache-2.0
// Which allocations are listed with --alloc-sample: the bytes that a thread asks for are a line on which points lie at
// random, on average one in `sample_bytes` (a Poisson process); a block with a point in it is listed. So a block of s
// bytes is listed with probability 1 - exp(-s / sample_bytes), whatever came before, and its reciprocal is what the
// block stands for (runner/summary/meters/sample_weight.h).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/compiler.h"

#pragma GCC visibility push(hidden)

// Of one thread. All zero: not begun.
struct alloc_sampler {
  int64_t left;     // bytes up to the next point
  uint64_t random;  // state; 0: to be seeded
};

extern uint64_t sample_bytes;  // 0: every block is listed

// The slow half of sampler_picks: the point was reached, or the thread has none yet.
bool sampler_passes_point(struct alloc_sampler *sampler, size_t size, uint64_t seed);

// Does a block of `size` bytes hold a point? Requires: sample_bytes is not 0. `seed`: anything that differs between
// threads.
INLINE bool sampler_picks(struct alloc_sampler *sampler, size_t size, uint64_t seed) {
  if (!size) size = 1;
  if (likely(sampler->random && size < (size_t)INT64_MAX && (sampler->left -= (int64_t)size) > 0)) return false;
  return sampler_passes_point(sampler, size, seed);
}

#pragma GCC visibility pop
