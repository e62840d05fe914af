// SPDX-License-Identifier: Apache-2.0
// The allocation loop shared by `mlrun bench` and tests/bench, so that their figures are comparable.
#pragma once

#include <stdint.h>
#include <stdlib.h>

enum { kSeed = 88172645, kBlockSlots = 16 };

// xorshift64: random numbers that are the same in every run.
static inline uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

// Keeps sixteen blocks; each iteration replaces one by a new block of smallest..smallest+mask bytes.
static inline void replace_blocks(long iterations, size_t smallest, uint64_t mask) {
  void *slots[kBlockSlots] = {0};
  uint64_t random = kSeed;
  for (long i = 0; i < iterations; i++) {
    void **slot = &slots[i % kBlockSlots];
    free(*slot);
    *slot = malloc(smallest + (next_random(&random) & mask));
  }
  for (int i = 0; i < kBlockSlots; i++) free(slots[i]);
}
