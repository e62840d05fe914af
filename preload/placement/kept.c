// SPDX-License-Identifier: Apache-2.0
// Which pages a heap keeps for later blocks, and which go back to the kernel (heap.h). Kept are free runs, freed mappings in the yard, and what is
// mapped behind the end of a block in the yard: an earlier block of the place was larger, or the block itself.
#include "preload/placement/heap_parts.h"
#include "preload/placement/memory_locks.h"

enum {
  kKeptPagesLeast = 4096,  // 16 MiB, if so much was alive at once
  kKeptPagesMax = 15360,   // 60 MiB; with the tables 64
  kFreedPagesMax = 8192,   // 32 MiB, where libc maps each block by itself
  kCutPages = 1024         // 4 MiB, which are unmapped in a few hundred microseconds
};

static void age_add(struct heap *heap, uint32_t page) {
  struct run *run = run_at(page);
  run->older = heap->newest;
  run->newer = kNoPage;
  if (heap->newest != kNoPage)
    run_at(heap->newest)->newer = page;
  else
    heap->oldest = page;
  heap->newest = page;
}

static void age_remove(struct heap *heap, uint32_t page) {
  const struct run *run = run_at(page);
  if (run->older != kNoPage)
    run_at(run->older)->newer = run->newer;
  else
    heap->oldest = run->newer;
  if (run->newer != kNoPage)
    run_at(run->newer)->older = run->older;
  else
    heap->newest = run->older;
}

// A block in the yard is among the kept runs while pages are mapped behind it.
static uint32_t kept_part(const struct run *run) {
  return state_of(run) == kGrown ? run->touched - run->pages : run->touched;
}

void heap_keep(struct heap *heap, uint32_t page) {
  if (in_yard(page))
    yard_keep(&heap->yard, page);
  else
    range_keep(range_of(heap, page), page);
  age_add(heap, page);
  heap->kept_pages += kept_part(run_at(page));
}

void heap_reuse(struct heap *heap, uint32_t page) {
  age_remove(heap, page);
  heap->kept_pages -= kept_part(run_at(page));
}

void heap_reuse_tail(struct heap *heap, uint32_t page) {
  if (kept_part(run_at(page))) heap_reuse(heap, page);
}

void heap_keep_tail(struct heap *heap, uint32_t page) {
  if (!kept_part(run_at(page))) return;
  age_add(heap, page);
  heap->kept_pages += kept_part(run_at(page));
}

// Unmaps the last pages behind a block in the yard, which is in no list. The lock is held meanwhile, because the block may grow into them; so not
// too many at once.
static void cut_tail(struct heap *heap, uint32_t page) {
  struct run *run = run_at(page);
  uint32_t tail = kept_part(run), pages = tail < kCutPages ? tail : kCutPages;
  run->touched -= pages;
  pages_unmap(address_of(page + run->touched), (size_t)pages * kPageBytes);
  heap_keep_tail(heap, page);
  heap_unlock(heap);
  heap_lock(heap);
}

// Unmaps a free mapping in the yard, which is in no list.
static void leave_yard(struct heap *heap, uint32_t page) {
  uint32_t pages = run_at(page)->touched;
  yard_leave(&heap->yard, page, lock_of_thread());
  heap_unlock(heap);
  pages_unmap(address_of(page), (size_t)pages * kPageBytes);
  heap_lock(heap);
  yard_give_up(&heap->yard, page, 0);
}

// A touched run of the large range gives back all its pages, because a huge page may reach beyond the touched ones.
void heap_give_back(struct heap *heap, uint32_t page) {
  if (in_yard(page)) {
    leave_yard(heap, page);
    return;
  }
  struct run *run = run_at(page);
  uint32_t pages = run->touched && range_of(heap, page) == &heap->ranges[kLarge] ? run->room : run->touched;
  run->state = kLeaving;
  heap_unlock(heap);
  bool done = !pages || give_back_pages(heap, address_of(page), (size_t)pages * kPageBytes);
  if (done && run->pieces) ratio_undo(address_of(page), run->room, run->pieces);
  heap_lock(heap);
  if (done) {
    heap->given_back_pages += run->touched;
    range_add_clean(range_of(heap, page), page);
  } else {
    heap->keeps_all = true;
    heap_keep(heap, page);
  }
}

static uint64_t keep_limit(const struct heap *heap) {
  uint64_t peak = heap->peak_bytes / kPageBytes, limit = peak / 2 + heap->regained_pages;
  if (limit < kKeptPagesLeast) limit = kKeptPagesLeast;
  if (limit > peak) limit = peak;
  if (limit < 2 * heap->largest_freed) limit = 2 * heap->largest_freed;
  // 2 MiB more: kept runs often do not fit where block sizes vary, and a block that grows leaves the runs where it was.
  limit += kCachedPages;
  // Open caches may hold the rest of the 60 MiB, those beyond the first eight more.
  uint64_t caches = heap->caches_open < kCachesLeast ? heap->caches_open : kCachesLeast;
  uint64_t most = kKeptPagesMax - caches * kCachedPages;
  return limit < most ? limit : most;
}

static void give_back_kept(struct heap *heap, uint32_t page) {
  enum run_state state = state_of(run_at(page));
  heap_reuse(heap, page);
  if (state == kGrown) {
    cut_tail(heap, page);
    return;
  }
  if (in_yard(page))
    yard_take_kept(&heap->yard, page);
  else
    range_forget_kept(range_of(heap, page), page);
  heap_give_back(heap, page);
}

void heap_give_back_beyond(struct heap *heap, uint64_t limit) {
  while (heap->kept_pages > limit && !heap->keeps_all) give_back_kept(heap, heap->oldest);
}

static uint32_t oldest_in_yard(const struct heap *heap) {
  uint32_t page = heap->oldest;
  while (page != kNoPage && !in_yard(page)) page = run_at(page)->newer;
  return page;
}

bool heap_empty_yard(struct heap *heap) {
  uint32_t page = oldest_in_yard(heap);
  bool any = page != kNoPage;
  for (; page != kNoPage; page = oldest_in_yard(heap)) give_back_kept(heap, page);
  return any;
}

bool heap_give_back_all(struct heap *heap) {
  caches_empty(heap);
  bool any = heap->kept_pages && !heap->keeps_all;
  heap_give_back_beyond(heap, 0);
  return heap_empty_yard(heap) || any;
}

// Where the kernel takes no pages back, all runs are kept; mappings can be unmapped nevertheless. So are those that mlockall may have locked.
static bool yard_keeps(const struct heap *heap) { return !heap->keeps_all && !blocks_may_be_locked(); }

static bool is_kept(struct heap *heap, uint32_t page, uint64_t limit) {
  if (in_yard(page) && !(yard_keeps(heap) && yard_may_keep(&heap->yard, page))) return false;
  return run_at(page)->touched <= limit || heap->keeps_all;
}

void heap_release(struct heap *heap, uint32_t page) {
  const struct run *run = run_at(page);
  if (run->pages > heap->largest_freed && run->pages <= kFreedPagesMax) heap->largest_freed = run->pages;
  if (in_yard(page)) heap_reuse_tail(heap, page);
  uint64_t limit = keep_limit(heap);
  if (!is_kept(heap, page, limit)) {
    heap_give_back(heap, page);
    return;
  }
  heap_keep(heap, page);
  heap_give_back_beyond(heap, limit);
}

void heap_release_tail(struct heap *heap, uint32_t page) {
  struct run *run = run_at(page);
  uint32_t tail = kept_part(run);
  uint64_t limit = keep_limit(heap);
  if (tail <= limit && yard_keeps(heap)) {
    heap_keep_tail(heap, page);
    heap_give_back_beyond(heap, limit);
    return;
  }
  if (!tail) return;
  heap_unlock(heap);
  pages_unmap(address_of(page + run->pages), (size_t)tail * kPageBytes);
  heap_lock(heap);
  // Not before: a child that another thread forks meanwhile has the pages, and unmaps them with the block.
  run->touched = run->pages;
}

void keep_within_budget(struct heap *heap, uint64_t pages) {
  uint64_t budget = heap->rule->budget_bytes / kPageBytes, live = heap->live_bytes / kPageBytes;
  if (budget) heap_give_back_beyond(heap, budget > live + pages ? budget - live - pages : 0);
}

bool is_within_budget(const struct heap *heap, uint64_t pages) {
  uint64_t budget = heap->rule->budget_bytes;
  return !budget || heap->live_bytes + pages * kPageBytes <= budget;
}

bool make_room_in_budget(struct heap *heap, uint64_t pages) {
  if (!is_within_budget(heap, pages)) return false;
  keep_within_budget(heap, pages);
  return is_within_budget(heap, pages);  // another thread may have used it up while the lock was released
}
