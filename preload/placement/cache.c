// SPDX-License-Identifier: Apache-2.0
#include "preload/placement/cache.h"

#include "preload/placement/heap_parts.h"
#include "preload/placement/start.h"

enum { kTries = 16, kSleepNs = 50000, kProcessorsMost = 8192 };

static uint32_t threads_seen;
static __thread uint32_t own_cache __attribute__((tls_model("initial-exec")));  // number + 1; 0: not assigned yet

uint32_t caches_count = kCachesLeast;

void caches_choose_count(void) {
  uint64_t usable[kProcessorsMost / 64] = {0};
  long bytes = raw_syscall3(SYS_sched_getaffinity, 0, sizeof usable, (long)usable);
  uint32_t processors = 0;
  for (long i = 0; i < bytes / 8; i++)
    for (uint64_t left = usable[i]; left; left &= left - 1) processors++;
  while (caches_count < processors && caches_count < kCachesMost) caches_count *= 2;
}

static uint32_t number_of_thread(void) {
  if (unlikely(!own_cache)) own_cache = __atomic_fetch_add(&threads_seen, 1, __ATOMIC_RELAXED) % caches_count + 1;
  return own_cache - 1;
}

static bool is_open(const struct cache *cache) { return __atomic_load_n(&cache->counts, __ATOMIC_RELAXED) != NULL; }

uint32_t cache_of_thread(const struct heap *heap) {
  uint32_t number = number_of_thread();
  return likely(is_open(&heap->caches[number])) ? number : number % kCachesLeast;
}

// Values of `entered`; else it is lock_of_thread() of the thread that is in the cache, which is even. kOnlyThread: entered by the only thread of the
// process, which needs no atomic instruction. kFork: held during a fork.
enum { kNotEntered, kOnlyThread, kFork = 3 };

// This cache stays entered while the caller waits. The caller is a signal handler that has interrupted its thread in the cache, or a fork. If the
// handler does not return (siglongjmp), the cache stays entered for ever.
static bool is_stuck(const struct cache *cache) {
  uint32_t entered = __atomic_load_n(&cache->entered, __ATOMIC_RELAXED);
  return entered == kOnlyThread || entered == kFork || entered == lock_of_thread();
}

INLINE bool try_to_enter(struct cache *cache) {
  uint32_t expected = kNotEntered;
  return __atomic_compare_exchange_n(&cache->entered, &expected, lock_of_thread(), false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED);
}

static COLD bool enter_soon(struct cache *cache) {
  for (int i = 0; i < kTries && !is_stuck(cache); i++) {
    __builtin_ia32_pause();
    if (!__atomic_load_n(&cache->entered, __ATOMIC_RELAXED) && try_to_enter(cache)) return true;
  }
  return false;
}

INLINE bool enter(struct cache *cache) {
  if (!is_single_threaded()) return likely(try_to_enter(cache)) || enter_soon(cache);
  if (unlikely(__atomic_load_n(&cache->entered, __ATOMIC_RELAXED)))
    return false;  // by the code that a signal handler has interrupted
  __atomic_store_n(&cache->entered, kOnlyThread, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_ACQUIRE);
  return true;
}

INLINE void leave(struct cache *cache) { __atomic_store_n(&cache->entered, kNotEntered, __ATOMIC_RELEASE); }

// Enters a cache unless it is stuck. Sleeps with a timeout, because a thread that leaves a cache wakes no waiters.
static bool enter_at_last(struct cache *cache) {
  while (!enter(cache)) {
    uint32_t seen = __atomic_load_n(&cache->entered, __ATOMIC_RELAXED);
    if (is_stuck(cache)) return false;
    if (seen) futex_wait_for(&cache->entered, seen, kSleepNs);
  }
  return true;
}

static uint32_t take_from(struct cache *cache, uint32_t pages, uint32_t most, uint32_t align) {
  for (uint32_t i = cache->blocks; i-- > 0;) {
    struct cached_block found = cache->block[i];
    if (found.room < pages || found.room > most || !is_aligned(found.page, align)) continue;
    cache->block[i] = cache->block[--cache->blocks];
    cache->pages -= found.touched;
    return found.page;
  }
  return kNoPage;
}

INLINE bool has_caches_now(const struct heap *heap) {
  return __atomic_load_n(&heap->caches_open, __ATOMIC_RELAXED) && !has_all_locks();
}

uint32_t cache_take(struct heap *heap, uint32_t pages, uint32_t align, size_t bytes, uint32_t *touched) {
  if (pages >= kCachedPages || !has_caches_now(heap)) return kNoPage;
  uint32_t number = cache_of_thread(heap), page = kNoPage;
  struct cache *cache = &heap->caches[number];
  if (!enter(cache)) return kNoPage;
  struct mlrun_place_cache *counts = cache->counts;
  uint64_t alive = (uint64_t)pages * kPageBytes;
  if (counts && cache->blocks && cache->cached_bytes >= alive)
    page = take_from(cache, pages, closest_room(pages), align);
  if (page != kNoPage) {
    struct run *run = run_at(page);
    *touched = run->touched;
    run->pages = pages;
    if (run->touched < pages) run->touched = pages;
    __atomic_store_n(&run->state, kLive, __ATOMIC_RELAXED);
    counts->cached_bytes = cache->cached_bytes -= alive;
    counts->bytes += bytes;
    counts->matches++;
  }
  leave(cache);
  return page;
}

static bool has_room(const struct cache *cache, const struct run *run) {
  return cache->blocks < kCachedBlocks && cache->pages + run->touched <= kCachedPages;
}

bool cache_put(struct heap *heap, struct run *run, uint32_t page) {
  if (page >= heap->first_large || run->touched > kCachedPages || run->room > UINT16_MAX) return false;
  if (!has_caches_now(heap)) return false;
  struct cache *cache = &heap->caches[run->cache];
  if (!enter(cache)) return false;
  struct mlrun_place_cache *counts = cache->counts;
  bool fits = counts && has_room(cache, run);
  if (fits) {
    cache->block[cache->blocks++] = (struct cached_block){page, (uint16_t)run->room, (uint16_t)run->touched};
    cache->pages += (uint16_t)run->touched;
    counts->cached_bytes = cache->cached_bytes += (uint64_t)run->pages * kPageBytes;
    __atomic_store_n(&run->state, kCached, __ATOMIC_RELAXED);
  }
  leave(cache);
  return fits;
}

// Requires: the calling thread has entered the cache.
static void empty(struct heap *heap, struct cache *cache) {
  for (; cache->blocks; cache->blocks--) heap_keep(heap, cache->block[cache->blocks - 1].page);
  cache->pages = 0;
  heap->live_bytes -= cache->cached_bytes;
  cache->cached_bytes = 0;
  if (cache->counts) cache->counts->cached_bytes = 0;
  heap->count->live_bytes = heap->live_bytes;
}

static void open_one(struct heap *heap, uint32_t number) {
  struct cache *cache = &heap->caches[number];
  if (cache->counts || is_stuck(cache)) return;
  struct mlrun_place_cache *counts = take_cache_counts(heap->number, number >= kCachesLeast);
  if (!counts || !enter_at_last(cache)) return;
  empty(heap, cache);  // in a forked child: of what caches_close() has left
  __atomic_store_n(&cache->counts, counts, __ATOMIC_RELAXED);
  leave(cache);
  __atomic_store_n(&heap->caches_open, heap->caches_open + 1, __ATOMIC_RELEASE);
}

void cache_open(struct heap *heap) {
  if (!heap->has_caches || has_all_locks()) return;
  uint32_t number = number_of_thread();
  open_one(heap, number);
  if (number >= kCachesLeast && !is_open(&heap->caches[number])) open_one(heap, number % kCachesLeast);
}

void caches_empty(struct heap *heap) {
  if (!heap->caches_open || has_all_locks()) return;  // during a fork: caches_lock() has emptied them
  for (uint32_t i = 0; i < caches_count; i++) {
    struct cache *cache = &heap->caches[i];
    if (!cache->counts || !enter_at_last(cache)) continue;
    empty(heap, cache);
    leave(cache);
  }
}

void caches_lock(struct heap *heap) {
  for (uint32_t i = 0; i < caches_count && heap->caches_open; i++) {
    struct cache *cache = &heap->caches[i];
    if (!enter_at_last(cache)) continue;
    empty(heap, cache);
    __atomic_store_n(&cache->entered, kFork, __ATOMIC_RELAXED);
  }
}

void caches_unlock(struct heap *heap) {
  for (uint32_t i = 0; i < caches_count; i++) {
    if (heap->caches[i].entered == kFork) leave(&heap->caches[i]);
  }
}

void caches_close(struct heap *heap) {
  for (uint32_t i = 0; i < caches_count; i++) {
    struct cache *cache = &heap->caches[i];
    heap->live_bytes -= cache->cached_bytes;  // of a stuck cache: caches_lock() has emptied the others
    cache->cached_bytes = 0;
    cache->counts = NULL;
    // Perhaps entered by a thread that the child does not have. caches_lock() has waited for those of other heaps.
    if (heap->is_interrupted && cache->entered && !is_stuck(cache)) heap->has_caches = false;
  }
  heap->caches_open = 0;
}
