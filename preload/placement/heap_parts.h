// SPDX-License-Identifier: Apache-2.0
// What the files of the heap share.
#pragma once

#include "preload/core/recorder.h"
#include "preload/placement/cache.h"
#include "preload/placement/file_heap.h"
#include "preload/placement/pages.h"
#include "preload/placement/policy.h"
#include "preload/placement/range.h"
#include "preload/placement/yard.h"
#include "runner/events/placement.h"

#pragma GCC visibility push(hidden)

enum { kSmall, kLarge, kRanges };
enum { kLargePages = 512 };  // blocks of 2 MiB and more are in the large range

// Where the blocks of a heap come from.
enum heap_source {
  kAnonymous,  // ranges of pages
  kInFile,     // ranges of pages that are mapped from a file
  kOfMemkind,
  kClosed  // no new blocks: the rule's allocations go to the next rule that fits
};

// Fields that threads only read, the lock, and fields that its holder writes are on different cache lines, so that waiting for the
// lock slows no other thread.
struct heap {
  const struct mlrun_place_rule *rule;
  uint32_t first_large;  // first page of the range of large blocks
  uint32_t caches_open;
  uint8_t number;
  uint8_t source;  // enum heap_source
  bool has_caches;
  bool has_whole;  // blocks in the large range are counted in whole huge pages, which the kernel fills

  uint32_t lock __attribute__((aligned(kCacheLine)));  // 0: free, else lock_of_thread(), with kAwaited if others wait

  uint32_t oldest __attribute__((aligned(kCacheLine)));
  uint32_t newest;
  bool keeps_all;  // the kernel refused to take pages back (e.g. locked memory): all freed pages are kept from then on
  bool is_interrupted;  // during a fork by a signal handler that has interrupted its thread inside this heap
  uint64_t kept_pages, largest_freed;
  uint64_t given_back_pages, regained_pages;  // regained: given back, and needed again
  uint64_t live_bytes, peak_bytes;            // live_bytes includes cached blocks
  struct mlrun_place_count counts;            // used until heaps_show_counts()
  struct mlrun_place_count *count;
  struct range ranges[kRanges];
  struct yard yard;
  void *memkind;  // the memkind_t, if the source is kOfMemkind
  void *pending;  // list of blocks that fork handlers freed during a fork; each begins with the next one's address
  struct cache caches[kCachesMost];  // the first caches_count: no memory for the others
};

extern struct heap *heaps;  // one for each rule
extern uint32_t heaps_opened, placement_rules;

// libc's __libc_single_threaded, since glibc 2.32; null: unknown. If it is true it stays true inside this library, which makes no thread.
extern HOT const char *single_threaded;
INLINE bool is_single_threaded(void) { return single_threaded && *(const volatile char *)single_threaded; }

// The thread that forks and holds all locks. Fork handlers of other libraries run in it meanwhile and may allocate, as with libc's allocator. Null:
// no fork is in progress.
extern const struct thread_state *forking;
INLINE bool has_all_locks(void) { return unlikely(__atomic_load_n(&forking, __ATOMIC_RELAXED) == &this_thread); }

enum { kAwaited = 1, kTaken = 2 };  // in a heap's lock

// What a heap's lock is while this thread holds it, and a cache's `entered` while it is in there. Threads that are alive differ in it, unless their
// memory is 64 GiB apart.
INLINE uint32_t lock_of_thread(void) { return ((uint32_t)((uintptr_t)&this_thread >> 4) & ~3u) | kTaken; }

void heap_wait_for_lock(struct heap *heap);

INLINE void heap_lock(struct heap *heap) {
  uint32_t free = 0;
  if (has_all_locks()) return;
  if (is_single_threaded()) {
    heap->lock = kTaken;
    compiler_barrier();  // a signal handler that forks looks whether it has interrupted the heap
    return;
  }
  if (unlikely(!__atomic_compare_exchange_n(&heap->lock, &free, lock_of_thread(), false, __ATOMIC_ACQUIRE,
                                            __ATOMIC_RELAXED)))
    heap_wait_for_lock(heap);
}

INLINE void heap_unlock(struct heap *heap) {
  if (has_all_locks()) return;
  if (is_single_threaded()) {
    compiler_barrier();
    heap->lock = 0;
    return;
  }
  if (unlikely(__atomic_exchange_n(&heap->lock, 0, __ATOMIC_RELEASE) & kAwaited)) futex_wake_one(&heap->lock);
}

INLINE struct range *range_of(struct heap *heap, uint32_t page) {
  return &heap->ranges[page >= heap->ranges[kLarge].first ? kLarge : kSmall];
}

INLINE uint32_t whole_huge_pages(uint32_t pages) { return (pages + kLargePages - 1) / kLargePages * kLargePages; }

// Pages of the memory that a block of `pages` pages may take; is_large: in the large range. live_pages: the same for a block that is at `page`.
INLINE uint32_t counted_pages(const struct heap *heap, bool is_large, uint32_t pages) {
  return heap->has_whole && is_large ? whole_huge_pages(pages) : pages;
}
INLINE uint32_t live_pages(const struct heap *heap, uint32_t page, uint32_t pages) {
  return counted_pages(heap, page >= heap->ranges[kLarge].first, pages);
}

INLINE uint32_t pages_for(size_t bytes) { return (uint32_t)((bytes + kPageBytes - 1) / kPageBytes); }

// live_bytes, which includes cached blocks, has passed the peak: empties the caches, then raises the peak if it is still passed. Under the lock.
void note_peak(struct heap *heap);

// Adds to the live bytes; below 0: subtracts. Under the lock.
INLINE void note_live_bytes(struct heap *heap, int64_t bytes) {
  heap->live_bytes += (uint64_t)bytes;
  heap->count->live_bytes = heap->live_bytes;
  if (heap->live_bytes > heap->peak_bytes) note_peak(heap);
}
INLINE void note_live(struct heap *heap, int64_t pages) { note_live_bytes(heap, pages * kPageBytes); }

// Counts a call that matched the rule; not placed: it was served without the rule's policy. Under the lock.
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

// kept.c. All require the lock. Those that give back release it while pages are given back.

// Whether the rule's budget has room for `pages` more live ones.
bool is_within_budget(const struct heap *heap, uint64_t pages);

// Gives kept pages back to the kernel before `pages` new ones are taken, so that a rule's pages, kept ones included, stay within its budget.
void keep_within_budget(struct heap *heap, uint64_t pages);

// Both. False: there is no room.
bool make_room_in_budget(struct heap *heap, uint64_t pages);

// Adds the run to the kept ones: free, with its pages. heap_reuse: the run leaves them, in its state.
void heap_keep(struct heap *heap, uint32_t page);
void heap_reuse(struct heap *heap, uint32_t page);

// The same for the pages that are mapped behind the end of a live block in the yard, if there are any.
void heap_keep_tail(struct heap *heap, uint32_t page);
void heap_reuse_tail(struct heap *heap, uint32_t page);

// Frees the run: keeps its pages, or gives them or those of older runs back to the kernel.
void heap_release(struct heap *heap, uint32_t page);

// The same for what is mapped behind a block in the yard that its own thread resizes. Requires: heap_reuse_tail() before the block's size changed.
void heap_release_tail(struct heap *heap, uint32_t page);

// Gives the pages of a run that is in no list back to the kernel.
void heap_give_back(struct heap *heap, uint32_t page);

// Gives kept pages back, the oldest first, until `limit` are left.
void heap_give_back_beyond(struct heap *heap, uint64_t limit);

// Unmaps what is kept in the yard, also where the kernel takes no other pages back. False: there was nothing.
bool heap_empty_yard(struct heap *heap);

// The kernel refuses memory, perhaps by a limit towards which kept pages count: gives all of them back, those in caches too. False: there were none.
bool heap_give_back_all(struct heap *heap);

#pragma GCC visibility pop
