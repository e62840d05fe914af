// SPDX-License-Identifier: Apache-2.0
// malloc and free below 16 or 32 frames, for tracers that record call stacks. The call path changes every kPerPath
// iterations, as in a program that allocates often in each of many places.
#include "loops.h"

enum { kPerPath = 64 };
static const uint64_t kVarying = 0x249249;  // every third frame: 16 paths of 12 frames, 256 of 28

struct descent {
  long iterations;
  uint64_t path;  // one bit for each frame: which of the two functions it is of
};

static void go_down(struct descent *descent, int frames);

// What is done after the call keeps it from being a jump.
__attribute__((noinline)) static void left(struct descent *descent, int frames) {
  go_down(descent, frames);
  __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void right(struct descent *descent, int frames) {
  go_down(descent, frames);
  __asm__ volatile("nop" ::: "memory");
}

__attribute__((always_inline)) static inline void go_down(struct descent *descent, int frames) {
  if (frames == 0) {
    replace_blocks(descent->iterations, 1024, 4095);
    return;
  }
  ((descent->path >> (frames & 63)) & 1 ? left : right)(descent, frames - 1);
}

static void below(int frames, long iterations) {
  uint64_t random = kSeed;
  for (long done = 0; done < iterations; done += kPerPath) {
    struct descent descent = {iterations - done < kPerPath ? iterations - done : kPerPath,
                              next_random(&random) & kVarying};
    go_down(&descent, frames);
  }
}

// main, the thread's own and replace_blocks are frames too.
static void below_16(long iterations) { below(12, iterations); }
static void below_32(long iterations) { below(28, iterations); }

const struct loop deep_loops[] = {{"malloc_below_16", 2, below_16}, {"malloc_below_32", 2, below_32}, {0}};
