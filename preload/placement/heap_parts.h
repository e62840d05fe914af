// SPDX-License-Identifier: Apache-2.0
// What the files of the heap share.
#pragma once

#include "preload/core/recorder.h"
#include "preload/placement/cache.h"
#include "preload/placement/file_heap.h"
#include "preload/placement/pages.h"
#include "preload/placement/range.h"
#include "preload/placement/yard.h"
#include "runner/events/placement.h"

#pragma GCC visibility push(hidden)

enum { kSmall, kLarge, kRanges };

// Where the blocks of a heap come from.
enum heap_source {
  kAnonymous,  // ranges of pages
  kInFile,     // the same, mapped from a file
  kOfMemkind,
  kClosed  // nowhere: there are no new ones
};

// Three parts on cache lines of their own: what threads only read, the lock, and what its holder writes. Waiting for the lock slows no other thread.
struct heap {
  const struct mlrun_place_rule *rule;
  uint32_t first_large;  // page
  uint32_t caches_open;
  uint8_t number;
  uint8_t source;  // enum heap_source
  bool has_caches;

  uint32_t lock __attribute__((aligned(kCacheLine)));  // 0: free, 1: taken, 2: taken, and others wait

  uint32_t oldest __attribute__((aligned(kCacheLine)));
  uint32_t newest;
  bool keeps_all;  // the kernel does not take the pages back
  uint64_t kept_pages, largest_freed;
  uint64_t given_back_pages, regained_pages;  // regained: given back, and needed again
  uint64_t live_bytes, peak_bytes;            // live: with what is in caches
  struct mlrun_place_count counts;            // until they are shown
  struct mlrun_place_count *count;
  struct range ranges[kRanges];
  struct yard yard;
  struct cache caches[kCaches];
  void *memkind;  // its kind
  void *pending;  // blocks that handlers of a fork have freed meanwhile; each begins with the next one's address
};

extern struct heap *heaps;  // one for each rule
extern uint32_t heaps_opened, placement_rules;

// libc's __libc_single_threaded, since glibc 2.32; null: unknown. A thread cannot become two while it is in here.
extern HOT const char *single_threaded;
INLINE bool is_single_threaded(void) { return single_threaded && *(const volatile char *)single_threaded; }

// The thread that forks, which has all locks: handlers of others that run meanwhile may allocate, as with libc's allocator. Null: none.
extern const struct thread_state *forking;
INLINE bool has_all_locks(void) { return unlikely(__atomic_load_n(&forking, __ATOMIC_RELAXED) == &this_thread); }

void heap_wait_for_lock(struct heap *heap);

INLINE void heap_lock(struct heap *heap) {
  uint32_t free = 0;
  if (has_all_locks()) return;
  if (is_single_threaded()) {
    heap->lock = 1;
    return;
  }
  if (unlikely(!__atomic_compare_exchange_n(&heap->lock, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)))
    heap_wait_for_lock(heap);
}

INLINE void heap_unlock(struct heap *heap) {
  if (has_all_locks()) return;
  if (is_single_threaded()) {
    heap->lock = 0;
    return;
  }
  if (unlikely(__atomic_exchange_n(&heap->lock, 0, __ATOMIC_RELEASE) == 2)) futex_wake_one(&heap->lock);
}

INLINE struct range *range_of(struct heap *heap, uint32_t page) {
  return &heap->ranges[page >= heap->ranges[kLarge].first ? kLarge : kSmall];
}

INLINE uint32_t pages_for(size_t bytes) { return (uint32_t)((bytes + kPageBytes - 1) / kPageBytes); }

// More is alive than before, unless caches have some of it.
void note_peak(struct heap *heap);

// A block has become larger or smaller. Under the lock.
INLINE void note_live_bytes(struct heap *heap, int64_t bytes) {
  heap->live_bytes += (uint64_t)bytes;
  heap->count->live_bytes = heap->live_bytes;
  if (heap->live_bytes > heap->peak_bytes) note_peak(heap);
}
INLINE void note_live(struct heap *heap, int64_t pages) { note_live_bytes(heap, pages * kPageBytes); }

// The rule was about a block. Under the lock.
INLINE void note_match(struct heap *heap, size_t bytes, bool placed) {
  heap->count->matches++;
  heap->count->bytes += bytes;
  if (placed) return;
  heap->count->fallbacks++;
  heap->count->fallback_bytes += bytes;
}

INLINE bool give_back_pages(const struct heap *heap, void *at, size_t bytes) {
  return heap->source == kInFile ? file_give_back(at, bytes) : pages_give_back(at, bytes);
}

// The run is free, and keeps its pages.
void heap_keep(struct heap *heap, uint32_t page);

// Ends the run: keeps its pages, or gives them and older ones back. Takes the lock, and lets it go meanwhile.
void heap_release(struct heap *heap, uint32_t page);

// Sets the pages of a ratio, in a run that is not yet used. Returns how many mappings the run is now. 0: no policy can be set any more, or
// the process would have too many mappings for the program's own.
uint32_t ratio_apply(const struct mlrun_place_rule *rule, char *at, uint32_t pages);

// The run is one mapping again, as far as it can be.
void ratio_undo(char *at, uint32_t pages, uint32_t pieces);

// The same for a mapping of the program's own, which ends unseen: it is counted for good, and larger pieces are made when there are many.
bool ratio_apply_to_mapping(const struct mlrun_place_rule *rule, char *at, size_t bytes);

// Sets the rule's policy and advice of one range.
bool policy_apply(const struct mlrun_place_rule *rule, void *at, size_t bytes, bool small);

#pragma GCC visibility pop
