// SPDX-License-Identifier: Apache-2.0
// Rows by code address, so that the usual step of a walk is one lookup. An entry is one word, read and written
// atomically by any thread and any signal handler; no thread waits. The cache is exact: the index and the tag determine
// the address. Each address has two places; the older entry is evicted.
//
//   entry  {row 32 | elsewhere 1 | tag 31}    tag: address >> 16
//   place  (address ^ hash(tag)) & 0xffff, or its neighbour if `elsewhere`
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "preload/base/compiler.h"
#include "preload/unwind/unwind_row.h"

#pragma GCC visibility push(hidden)

enum { kCacheEntries = 1 << 16 };

extern uint64_t *unwind_cache;  // kCacheEntries words, zero at first; null: no stacks are recorded

INLINE uint32_t unwind_cache_place(uint64_t address) {
  uint64_t tag = address >> 16;
  return (uint32_t)(address ^ (tag * 0x9e3779b97f4a7c15ull >> 40)) & (kCacheEntries - 1);
}

INLINE uint64_t unwind_cache_key(uint64_t address) { return (address >> 16) << 33; }

#define UNWIND_CACHE_ELSEWHERE (1ull << 32)

// ROW_NONE (0): not in the cache.
INLINE uint32_t unwind_cache_find(uint64_t address) {
  uint32_t place = unwind_cache_place(address);
  uint64_t key = unwind_cache_key(address), entry = __atomic_load_n(&unwind_cache[place], __ATOMIC_RELAXED);
  if (likely((entry & ~0xffffffffull) == key)) return (uint32_t)entry;
  entry = __atomic_load_n(&unwind_cache[place ^ 1], __ATOMIC_RELAXED);
  return (entry & ~0xffffffffull) == (key | UNWIND_CACHE_ELSEWHERE) ? (uint32_t)entry : ROW_NONE;
}

void unwind_cache_put(uint64_t address, uint32_t row);
void unwind_cache_clear(void);

#pragma GCC visibility pop
