// SPDX-License-Identifier: Apache-2.0
// malloc and free: sizes above, across and below the default --alloc-min of 1024 bytes, and with many blocks alive.
#include <stdlib.h>

#include "loops.h"

enum { kLiveBlocks = 400000 };

static void large(long iterations) { replace_blocks(iterations, 1024, 4095); }
static void mixed(long iterations) { replace_blocks(iterations, 64, 4095); }
static void small(long iterations) { replace_blocks(iterations, 16, 255); }

// Random blocks of a heap too large for the caches; it is filled by the first call of the thread, which is the warm-up.
static void live(long iterations) {
  static _Thread_local void **blocks;
  static _Thread_local uint64_t random = kSeed;
  if (!blocks) {
    blocks = malloc(kLiveBlocks * sizeof *blocks);
    if (!blocks) give_up("malloc");
    for (int i = 0; i < kLiveBlocks; i++) blocks[i] = malloc(16 + (next_random(&random) & 511));
  }
  for (long i = 0; i < iterations; i++) {
    void **block = &blocks[next_random(&random) % kLiveBlocks];
    free(*block);
    *block = malloc(16 + (random >> 40 & 511));
  }
}

const struct loop allocation_loops[] = {
    {"malloc_large", 2, large}, {"malloc_mixed", 2, mixed}, {"malloc_small", 2, small}, {"malloc_live", 2, live}, {0}};
