// SPDX-License-Identifier: Apache-2.0
// An address is in one of two buckets, each a cache line of eight words. One instruction changes a word from empty to an
// address or back, so entries never move, and a search reads sixteen words at most.
#include "preload/alloc/sampled_blocks.h"

#include <stdint.h>

enum { kBucketBits = 14, kWays = 8 };

static uint64_t buckets[1 << kBucketBits][kWays] __attribute__((aligned(64)));

static uint64_t *bucket_of(uint64_t address, int choice) {
  uint64_t mixed = (address >> 4) * (choice ? 0xd6e8feb86659fd93ull : 0x9e3779b97f4a7c15ull);
  return buckets[mixed >> (64 - kBucketBits)];
}

// In the two buckets of `address`, changes the first word that equals `from`. False: none does.
static bool change(uint64_t address, uint64_t from, uint64_t to) {
  for (int choice = 0; choice < 2; choice++) {
    uint64_t *bucket = bucket_of(address, choice);
    for (int way = 0; way < kWays; way++) {
      uint64_t there = __atomic_load_n(&bucket[way], __ATOMIC_RELAXED);
      if (there == from &&
          __atomic_compare_exchange_n(&bucket[way], &there, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return true;
    }
  }
  return false;
}

bool sampled_blocks_add(const void *block) { return change((uint64_t)(uintptr_t)block, 0, (uint64_t)(uintptr_t)block); }

bool sampled_blocks_remove(const void *block) {
  return change((uint64_t)(uintptr_t)block, (uint64_t)(uintptr_t)block, 0);
}
