// SPDX-License-Identifier: Apache-2.0
#include "preload/base/scratch.h"

#include <stdint.h>

enum { kPages = 64 };

static char pages[kPages][kScratchBytes]
    __attribute__((aligned(kScratchBytes)));  // the lowest free one is taken, so most are never touched
static uint64_t taken;

char *scratch_take(void) {
  uint64_t seen = __atomic_load_n(&taken, __ATOMIC_RELAXED);
  while (~seen) {
    int page = __builtin_ctzll(~seen);
    if (__atomic_compare_exchange_n(&taken, &seen, seen | 1ull << page, 1, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return pages[page];
  }
  return 0;
}

void scratch_give(char *page) {
  if (page) __atomic_fetch_and(&taken, ~(1ull << ((page - pages[0]) / kScratchBytes)), __ATOMIC_RELEASE);
}
