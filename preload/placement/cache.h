// SPDX-License-Identifier: Apache-2.0
// Caches of freed blocks, which threads reuse without the heap's lock. Each thread uses one of a heap's caches: as many as processors, 8 to 64. Those
// beyond eight are opened while less than half of the arena's room for counts is in use; else their threads share the first eight. A freed block goes
// to the cache of the thread that allocated it, also if another thread frees it. So threads that free their own blocks share nothing, if their caches
// differ; and a thread whose blocks are freed by another one finds them in its cache.
//
//   malloc    no cached block fits closely, or another thread is in the cache ─▶ takes a block from the heap, under its lock
//   free      the cache is full, or another thread is in it                   ─▶ gives the block to the heap, under its lock
//   the heap  needs new pages, seems to reach a new peak, or a fork begins    ─▶ empties all caches
//
// The heap's count of live bytes includes cached blocks; the cache counts their bytes. The difference of the two is exact, and so is the peak,
// which is raised only after the caches were emptied. Rules with a budget have no caches, because they need the exact live bytes at each
// allocation. A thread is in a cache for a few dozen instructions. A signal handler that forks or
// allocates meanwhile does not wait for the thread that it has interrupted: it passes over the cache.
#pragma once

#include "preload/placement/window.h"
#include "runner/events/placement.h"

#pragma GCC visibility push(hidden)

enum { kCacheLine = 64, kCachesLeast = 8, kCachesMost = 64, kCachedBlocks = 13, kCachedPages = 512 };

struct cached_block {
  uint32_t page;
  uint16_t room, touched;  // copied from its struct run
};

struct cache {
  uint32_t entered;                  // 0: no thread is in it
  uint16_t blocks, pages;            // pages: sum of `touched`, at most kCachedPages
  struct mlrun_place_cache *counts;  // in the arena, where mlrun reads them; null: the cache is not open
  uint64_t cached_bytes;             // as in `counts`, to which other processes can write
  struct cached_block block[kCachedBlocks];
} __attribute__((aligned(kCacheLine)));
_Static_assert(sizeof(struct cache) == 2 * kCacheLine, "a thread writes it while others write their own");

struct heap;

extern uint32_t caches_count;  // of each heap; a power of two

// Chooses caches_count. Only at load.
void caches_choose_count(void);

// The cache that this thread uses.
uint32_t cache_of_thread(const struct heap *heap);

// Takes a cached block, which becomes live and is counted. kNoPage: none fits, or the cache cannot be used now.
// *touched: the run's `touched` before.
uint32_t cache_take(struct heap *heap, uint32_t pages, uint32_t align, size_t bytes, uint32_t *touched);

// Puts a live block that is freed into its cache. False: not possible; nothing has changed.
bool cache_put(struct heap *heap, struct run *run, uint32_t page);

// The heap's lock is held for all of these. cache_open: opens the cache of this thread if the arena has room for its counts. caches_empty: moves all
// cached blocks to the heap's kept runs. caches_lock: empties the caches and keeps threads out until caches_unlock. caches_close: closes them, in a
// forked child.
void cache_open(struct heap *heap);
void caches_empty(struct heap *heap);
void caches_lock(struct heap *heap);
void caches_unlock(struct heap *heap);
void caches_close(struct heap *heap);

#pragma GCC visibility pop
