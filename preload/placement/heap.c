// SPDX-License-Identifier: Apache-2.0
#include "preload/placement/heap.h"

#include <linux/mempolicy.h>
#include <string.h>

#include "preload/base/next_symbol.h"
#include "preload/placement/heap_parts.h"
#include "preload/placement/memkind_heap.h"
#include "preload/placement/memory_locks.h"
#include "preload/placement/mremap_pieces.h"
#include "preload/placement/ratio_mappings.h"
#include "runner/events/placed_mappings.h"

_Static_assert((int)kSegments == MLRUN_PLACE_SEGMENTS && 1 << kSegmentBits == MLRUN_PLACE_SEGMENT,
               "mlrun knows the heaps");

enum {
  kCleanTries = 2,
  kWasteMost = 16,  // at most a 16th of a block
  kTries = 100      // tries to take a lock before sleeping
};

struct heap *heaps;
HOT const char *single_threaded;
const struct thread_state *forking;
uint32_t heaps_opened, placement_rules;

static bool change_lock(struct heap *heap, uint32_t from, uint32_t to) {
  return __atomic_compare_exchange_n(&heap->lock, &from, to, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

// Spins before it sleeps: the lock is held for tens of nanoseconds (longer while pages are mapped or given back), and a sleep costs a hundred
// times as much.
COLD void heap_wait_for_lock(struct heap *heap) {
  for (int i = 0; i < kTries; i++) {
    __builtin_ia32_pause();
    if (!__atomic_load_n(&heap->lock, __ATOMIC_RELAXED) && change_lock(heap, 0, lock_of_thread())) return;
  }
  for (;;) {
    uint32_t seen = __atomic_load_n(&heap->lock, __ATOMIC_RELAXED);
    if (!seen && change_lock(heap, 0, lock_of_thread() | kAwaited)) return;  // by other threads that still wait
    if (seen && (seen & kAwaited || change_lock(heap, seen, seen | kAwaited))) futex_wait(&heap->lock, seen | kAwaited);
  }
}

static bool open_range(struct heap *heap, uint32_t which, uint32_t from, uint32_t end, struct range_file file) {
  struct range *range = &heap->ranges[which];
  if (!range_open(range, from * kSegmentPages, end * kSegmentPages, file)) return false;
  // A written page gives the seed an anon_vma, which all pieces that a ratio cuts out of the range then share. The kernel does not merge pieces
  // that have different ones.
  if (heap->source == kAnonymous && heap->rule->flags & MLRUN_PLACE_RATIO) *(volatile char *)range_seed(range) = 0;
  return policy_apply(heap->rule, range_seed(range), kPageBytes, which == kSmall, kNewOnly);
}

// If the file cannot be made, only this rule has no blocks: it is not an error for the other rules.
static bool open_in_file(struct heap *heap, uint32_t first, uint32_t large, uint32_t end, const char *folder) {
  struct range_file file = {file_create(folder, (uint64_t)(end - first) << kSegmentBits), first * kSegmentPages};
  heap->source = kClosed;
  if (file.fd < 0) return true;
  if (open_range(heap, kSmall, first, large, file) && open_range(heap, kLarge, large, end, file))
    heap->source = kInFile;
  raw_syscall1(SYS_close, file.fd);
  return true;
}

bool heap_open(uint32_t number, uint32_t count, const struct mlrun_place_rule *rule, const char *folder) {
  if (!heaps) {
    caches_choose_count();
    heaps = pages_map(NULL, count * sizeof *heaps);
  }
  if (!heaps) return false;
  single_threaded = libc_variable("__libc_single_threaded");
  struct heap *heap = &heaps[number];
  uint32_t segments = kSegments / count, first = number * segments;
  uint32_t large = first + segments / 8, yard = first + segments / 2, end = first + segments;
  heap->rule = rule;
  heap->number = (uint8_t)number;
  heap->count = &heap->counts;
  heaps_opened = number + 1;
  placement_rules = count;
  if (rule->calls == MLRUN_PLACE_MMAP) {
    mremap_pieces_open();
    if (rule->flags & MLRUN_PLACE_RATIO) ratio_mappings_open();
    return true;
  }
  if (rule->flags & MLRUN_PLACE_MEMKIND) {
    heap->source = kClosed;  // until memkind_begin
    return true;
  }
  if (rule->flags & MLRUN_PLACE_FILE) return open_in_file(heap, first, large, yard, folder);
  heap->first_large = large * kSegmentPages;
  heap->has_caches = !rule->budget_bytes;
  heap->has_whole = (rule->flags & (MLRUN_PLACE_HUGE | MLRUN_PLACE_RATIO)) == MLRUN_PLACE_HUGE;
  yard_open(&heap->yard, yard, end);
  const struct range_file none = {-1, 0};
  return open_range(heap, kSmall, first, large, none) && open_range(heap, kLarge, large, yard, none);
}

static uint32_t take_clean(struct heap *heap, struct range *range, uint32_t pages, uint32_t align) {
  for (int tries = 0; tries < kCleanTries; tries++) {
    uint32_t page = range_take_clean(range, pages, align);
    if (page == kNoPage) {
      if (!heap_give_back_all(heap)) break;
      continue;
    }
    if (!(heap->rule->flags & MLRUN_PLACE_RATIO)) return page;
    heap_unlock(heap);  // many calls of mbind; the run is in no list
    uint32_t pieces = ratio_apply(heap->rule, address_of(page), pages, kNewOnly);
    heap_lock(heap);
    run_at(page)->pieces = (uint16_t)pieces;
    if (pieces) return page;
    range_add_clean(range, page);
    break;
  }
  return kNoPage;
}

// Counts new pages as regained as far as pages had been given back: they were given back too early (keep_limit).
static void note_regained(struct heap *heap, uint32_t pages) {
  uint64_t regained = pages < heap->given_back_pages ? pages : heap->given_back_pages;
  heap->given_back_pages -= regained;
  heap->regained_pages += regained;
}

static uint32_t take_kept(struct heap *heap, struct range *range, uint32_t pages, uint32_t align) {
  uint32_t page = range_take_kept(range, pages, align);
  if (page != kNoPage || !heap->caches_open || pages >= kCachedPages) return page;
  caches_empty(heap);
  return range_take_kept(range, pages, align);
}

// Whether a block begins at a multiple of 2 MiB. MPOL_INTERLEAVE places huge pages one by one on the nodes: an aligned block gets equal shares. Not
// where this would waste much, because such a block can fill its last huge page too.
static bool begins_at_huge_page(const struct heap *heap, uint32_t pages) {
  if (pages < kLargePages) return false;
  if (heap->rule->flags & MLRUN_PLACE_HUGE) return true;
  return heap->rule->policy == MPOL_INTERLEAVE && whole_huge_pages(pages) - pages <= pages / kWasteMost;
}

static uint32_t take(struct heap *heap, uint32_t pages, uint32_t align) {
  struct range *range = &heap->ranges[pages >= kLargePages];
  pages = counted_pages(heap, pages >= kLargePages, pages);
  uint32_t page = take_kept(heap, range, pages, align);
  if (page != kNoPage) {
    heap_reuse(heap, page);
    if (run_at(page)->touched >= pages) return page;
    keep_within_budget(heap, pages);  // the earlier block has not used all of its room
  } else {
    if (align < kLargePages && begins_at_huge_page(heap, pages)) align = kLargePages;
    keep_within_budget(heap, pages);
    note_regained(heap, pages);
    page = take_clean(heap, range, pages, align);
  }
  if (page == kNoPage || is_within_budget(heap, pages)) return page;
  heap_give_back(heap, page);  // another thread has used up the budget while the lock was released
  return kNoPage;
}

// Undoes an allocation for whose pages the file has no space.
static void take_back(struct heap *heap, uint32_t page, size_t bytes) {
  heap_lock(heap);
  heap->count->matches--;
  heap->count->bytes -= bytes;
  note_live(heap, -(int64_t)run_at(page)->pages);
  heap_give_back(heap, page);
  heap_unlock(heap);
}

// Takes a run of `room` pages as a live block of `pages`, and counts it. kNoPage: not possible.
static uint32_t take_locked(struct heap *heap, uint32_t pages, uint32_t room, uint32_t align, size_t bytes,
                            uint32_t *touched) {
  uint32_t counted = counted_pages(heap, room >= kLargePages, pages);
  heap_lock(heap);
  cache_open(heap);
  uint32_t page = is_within_budget(heap, counted) ? take(heap, room, align) : kNoPage;
  if (page != kNoPage) {
    struct run *run = run_at(page);
    *touched = run->touched;
    run->pages = pages;
    run->rule = heap->number;
    run->cache = cache_of_thread(heap);
    if (run->touched < counted) run->touched = counted;
    note_match(heap, bytes, true);
    note_live(heap, counted);
  }
  heap_unlock(heap);
  return page;
}

void *heap_allocate(uint32_t number, size_t bytes, size_t alignment, bool zeroed) {
  struct heap *heap = &heaps[number];
  if (bytes >= window.bytes || alignment >= window.bytes) return NULL;
  if (unlikely(heap->source != kAnonymous)) {
    if (heap->source == kOfMemkind) return memkind_allocate(heap, bytes, alignment, zeroed);
    if (heap->source == kClosed || has_all_locks()) return NULL;  // in a fork: the child's copy is already made
  }
  uint32_t pages = pages_for(bytes), align = pages_for(alignment ? alignment : 1), touched;
  uint32_t page = cache_take(heap, pages, align, bytes, &touched);
  if (page == kNoPage) page = take_locked(heap, pages, pages, align, bytes, &touched);
  if (page == kNoPage) return NULL;
  void *block = address_of(page);
  size_t old = (size_t)touched * kPageBytes;
  if (heap->source == kInFile && pages > touched &&
      !file_populate((char *)block + old, (size_t)(pages - touched) * kPageBytes)) {
    take_back(heap, page, bytes);
    return NULL;
  }
  if (zeroed && touched) memset(block, 0, bytes < old ? bytes : old);
  return block;
}

void *heap_allocate_with_room(uint32_t number, size_t bytes, size_t room_bytes) {
  struct heap *heap = &heaps[number];
  if (room_bytes >= window.bytes) return NULL;
  if (heap->source != kAnonymous && (heap->source != kInFile || has_all_locks())) return NULL;
  uint32_t pages = pages_for(bytes), touched;
  uint32_t page = take_locked(heap, pages, pages_for(room_bytes), 1, bytes, &touched);
  if (page == kNoPage) return NULL;
  if (heap->source == kInFile && pages > touched &&
      !file_populate(address_of(page + touched), (size_t)(pages - touched) * kPageBytes)) {
    take_back(heap, page, bytes);
    return NULL;
  }
  return address_of(page);
}

void heap_free(struct run *run, void *block) {
  struct heap *heap = &heaps[run->rule];
  if (cache_put(heap, run, page_of(block))) return;
  heap_lock(heap);
  note_live(heap, -(int64_t)live_pages(heap, page_of(block), run->pages));
  heap_release(heap, page_of(block));
  heap_unlock(heap);
}

int heap_rule(const struct heap *heap) { return heap->number; }

void heap_note_fallback(uint32_t number, size_t bytes) {
  struct heap *heap = &heaps[number];
  heap_lock(heap);
  note_match(heap, bytes, false);
  heap_unlock(heap);
}

static void move_count(__u64 *from, __u64 *to) {
  uint64_t count = __atomic_exchange_n(from, 0, __ATOMIC_SEQ_CST);
  if (count) __atomic_fetch_add(to, count, __ATOMIC_SEQ_CST);
}

static void move_counts(struct mlrun_place_count *from, struct mlrun_place_count *to) {
  move_count(&from->matches, &to->matches);
  move_count(&from->bytes, &to->bytes);
  move_count(&from->fallbacks, &to->fallbacks);
  move_count(&from->fallback_bytes, &to->fallback_bytes);
}

// A rule about mappings is counted without the lock: the caller may be a signal handler that has interrupted another mmap.
static void note_mapping_match(struct heap *heap, size_t bytes, bool placed) {
  struct mlrun_place_count *count = __atomic_load_n(&heap->count, __ATOMIC_SEQ_CST), *shown;
  __atomic_fetch_add(&count->matches, 1, __ATOMIC_SEQ_CST);
  __atomic_fetch_add(&count->bytes, bytes, __ATOMIC_SEQ_CST);
  if (!placed) {
    __atomic_fetch_add(&count->fallbacks, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&count->fallback_bytes, bytes, __ATOMIC_SEQ_CST);
  }
  shown = __atomic_load_n(&heap->count, __ATOMIC_SEQ_CST);
  // heaps_show_counts() has just run. In a child that a signal handler has forked meanwhile the counts are the parent's, which keeps them.
  if (unlikely(shown != count) && count == &heap->counts) move_counts(count, shown);
}

bool heap_place_mapping(uint32_t number, void *at, size_t bytes, enum bound_pages which) {
  struct heap *heap = &heaps[number];
  bool done = policy_apply(heap->rule, at, bytes, false, which) &&
              (!(heap->rule->flags & MLRUN_PLACE_RATIO) || ratio_mapping_place(number, heap->rule, at, bytes, which));
  note_mapping_match(heap, bytes, done);
  return done;
}

void heap_note_mapping_left_alone(uint32_t number, size_t bytes) { note_mapping_match(&heaps[number], bytes, false); }

void note_peak(struct heap *heap) {
  caches_empty(heap);
  if (heap->live_bytes <= heap->peak_bytes) return;
  heap->peak_bytes = heap->count->peak_bytes = heap->live_bytes;
}

static bool has_interrupted(const struct heap *heap) {
  uint32_t lock = __atomic_load_n(&heap->lock, __ATOMIC_RELAXED);
  return lock && (is_single_threaded() || (lock & ~kAwaited) == lock_of_thread());
}

// The lists of an interrupted heap may be half changed. So its caches keep their blocks, and its lock stays with the interrupted code.
void heaps_lock(void) {
  for (uint32_t i = 0; i < heaps_opened; i++) {
    struct heap *heap = &heaps[i];
    heap->is_interrupted = has_interrupted(heap);
    if (heap->is_interrupted) continue;
    heap_lock(heap);
    caches_lock(heap);
  }
  __atomic_store_n(&forking, &this_thread, __ATOMIC_RELAXED);
}

void heaps_unlock(void) {
  __atomic_store_n(&forking, NULL, __ATOMIC_RELAXED);
  for (uint32_t i = heaps_opened; i-- > 0;) {
    if (heaps[i].is_interrupted) continue;
    caches_unlock(&heaps[i]);
    heap_unlock(&heaps[i]);
  }
}

bool heaps_have_blocks(void) {
  for (uint32_t i = 0; i < heaps_opened; i++)
    if (heaps[i].live_bytes) return true;
  return false;
}

void heaps_show_counts(struct mlrun_place_count *counts) {
  for (uint32_t i = 0; i < heaps_opened; i++) {
    struct heap *heap = &heaps[i];
    if (heap->rule->calls == MLRUN_PLACE_MMAP) {
      struct mlrun_place_count *before = heap->count;
      counts[i] = (struct mlrun_place_count){0};
      __atomic_store_n(&heap->count, &counts[i], __ATOMIC_SEQ_CST);
      move_counts(before, &counts[i]);
      continue;
    }
    heap_lock(heap);
    counts[i] = *heap->count;
    heap->count = &counts[i];
    heap_unlock(heap);
  }
}

// The kernel gives each mapping of a forked child an anon_vma of its own: inherited pieces do not merge again, and stay counted.
static void keep_pieces(struct heap *heap) {
  if (!(heap->rule->flags & MLRUN_PLACE_RATIO) || heap->source != kAnonymous || heap->is_interrupted) return;
  for (uint32_t which = 0; which < kRanges; which++) {
    const struct range *range = &heap->ranges[which];
    for (uint32_t page = range->first; page < range->top; page += run_at(page)->room)
      if (run_at(page)->pieces)
        run_at(page)->pieces = 0;  // written only where needed: the child gets a copy of the page
  }
}

void heaps_hide_counts(void) {
  forget_locks();
  for (uint32_t i = 0; i < heaps_opened; i++) {
    caches_close(&heaps[i]);
    keep_pieces(&heaps[i]);
    if (!heaps[i].is_interrupted) yard_end_leaving(&heaps[i].yard, lock_of_thread());
    uint64_t live = heaps[i].live_bytes;
    heaps[i].counts = (struct mlrun_place_count){.live_bytes = live, .peak_bytes = live};
    heaps[i].count = &heaps[i].counts;
    heaps[i].peak_bytes = live;
  }
}
