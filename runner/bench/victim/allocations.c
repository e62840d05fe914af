// SPDX-License-Identifier: Apache-2.0
// Loops of malloc and free: blocks large enough for the default --alloc-min, so that each gets a row; smaller blocks, which
// are only counted; small blocks in a heap larger than the caches. One iteration is a free and a malloc.
#include <stdlib.h>

#include "blocks.h"
#include "loops.h"

enum { kManyBlocks = 400000, kSomeBlocks = 50000 };

static void listed(long iterations) { replace_blocks(iterations, 1024, 4095); }
static void counted(long iterations) { replace_blocks(iterations, 16, 255); }

// Replaces random blocks among the first `count`, which the warm-up allocates.
static void replace_live(long iterations, uint64_t count) {
  static void *blocks[kManyBlocks];
  static uint64_t made, random = kSeed;
  while (made < count) blocks[made++] = malloc(16 + (next_random(&random) & 511));
  for (long i = 0; i < iterations; i++) {
    void **block = &blocks[next_random(&random) % count];
    free(*block);
    *block = malloc(16 + (random >> 40 & 511));
  }
}

static void counted_live(long iterations) { replace_live(iterations, kManyBlocks); }
static void counted_some_live(long iterations) { replace_live(iterations, kSomeBlocks); }

const struct loop allocation_loops[] = {{"malloc_listed", listed},
                                        {"malloc_counted", counted},
                                        {"malloc_live", counted_live},
                                        {"malloc_some_live", counted_some_live},
                                        {0}};
