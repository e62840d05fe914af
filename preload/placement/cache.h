// SPDX-License-Identifier: Apache-2.0
// Freed blocks at hand, without the heap's lock. A thread uses one of a heap's eight caches. A block goes back to the cache that the thread used
// which allocated it, also if another thread frees it: threads that free what they have allocated share nothing, and one that allocates what another
// frees finds it in its cache.
//
//   malloc    nothing in the cache fits closely, or another thread is in it at this moment ─▶ the heap, by its lock
//   free      the cache is full, or another thread is in it                                ─▶ the heap
//   the heap  needs new pages; more seems to be alive than ever before; a fork             ─▶ empties all caches
//
// The heap's count has what is in a cache as alive, and the cache's count says how much that is: so the sum is exact, and so is the peak, which
// only the heap can raise. Rules with a budget, which have to know at once what is alive, have no caches, and neither have processes of one
// thread. A cache is entered for a few dozen instructions.
#pragma once

#include "preload/placement/window.h"
#include "runner/events/placement.h"

#pragma GCC visibility push(hidden)

enum { kCacheLine = 64, kCaches = 8, kCachedBlocks = 14, kCachedPages = 512 };

struct cached_block {
  uint32_t page;
  uint16_t room, touched;  // as of its run
};

struct cache {
  uint32_t entered;                  // 1: a thread is in it
  uint16_t blocks, pages;            // pages: sum of `touched`, at most kCachedPages
  struct mlrun_place_cache *counts;  // null: not open
  struct cached_block block[kCachedBlocks];
} __attribute__((aligned(kCacheLine)));
_Static_assert(sizeof(struct cache) == 2 * kCacheLine, "a thread writes it while others write their own");

struct heap;

// The cache that this thread uses.
uint32_t cache_of_thread(void);

// A live block, which is counted. kNoPage: none fits, or not now. `touched`: what it was before.
uint32_t cache_take(struct heap *heap, uint32_t pages, size_t bytes, uint32_t *touched);

// A live block is free. False: not possible, and nothing has happened.
bool cache_put(struct heap *heap, struct run *run, uint32_t page);

// Under the heap's lock, for all: opens the cache, if there is a place for its count; what is in the caches of the heap goes to the heap's own kept runs; no
// thread is in a cache until they are let go; they are closed, in a forked child.
void cache_open(struct heap *heap, uint32_t number);
void caches_empty(struct heap *heap);
void caches_lock(struct heap *heap);
void caches_unlock(struct heap *heap);
void caches_close(struct heap *heap);

#pragma GCC visibility pop
