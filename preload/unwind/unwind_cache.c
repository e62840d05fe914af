// SPDX-License-Identifier: Apache-2.0
#include "preload/unwind/unwind_cache.h"

HOT uint64_t *unwind_cache;

void unwind_cache_put(uint64_t address, uint32_t row) {
  uint32_t place = unwind_cache_place(address);
  uint64_t *home = &unwind_cache[place], *neighbour = &unwind_cache[place ^ 1];
  uint64_t entry = unwind_cache_key(address) | row;
  if (__atomic_load_n(home, __ATOMIC_RELAXED) && !__atomic_load_n(neighbour, __ATOMIC_RELAXED))
    __atomic_store_n(neighbour, entry | UNWIND_CACHE_ELSEWHERE, __ATOMIC_RELAXED);
  else
    __atomic_store_n(home, entry, __ATOMIC_RELAXED);
}

COLD void unwind_cache_clear(void) {
  for (uint32_t i = 0; unwind_cache && i < kCacheEntries; i++) __atomic_store_n(&unwind_cache[i], 0, __ATOMIC_RELAXED);
}
