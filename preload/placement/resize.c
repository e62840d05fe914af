// SPDX-License-Identifier: Apache-2.0
// realloc in a heap. A block that grows to 1 MiB or more and has no room in place moves to the yard, where it can grow further without a copy; where
// an earlier block has left its pages in the yard, a smaller one too. Growing blocks that cannot go there are copied and get half as much again as
// room.
#include <errno.h>
#include <string.h>

#include "preload/placement/heap.h"
#include "preload/placement/heap_parts.h"
#include "preload/placement/memory_locks.h"

enum { kYardPages = 256, kMovePages = 1024 };  // 1 MiB; from 4 MiB on pages are moved instead of copied

// Live pages that a block gains when it gets another size in the same range.
static int64_t gained(const struct heap *heap, const struct run *run, uint32_t page, uint32_t pages) {
  return (int64_t)live_pages(heap, page, pages) - live_pages(heap, page, run->pages);
}

static void set_pages(struct heap *heap, struct run *run, uint32_t page, uint32_t pages) {
  uint32_t live = live_pages(heap, page, pages);
  note_live(heap, gained(heap, run, page, pages));
  run->pages = pages;
  if (run->touched < live) run->touched = live;
}

// The file has space for touched pages only. Makes space for more of a run's pages.
static bool has_file_space(const struct heap *heap, const struct run *run, uint32_t page, uint32_t pages) {
  return heap->source == kInFile && pages <= run->room &&
         file_populate(address_of(page + run->touched), (size_t)(pages - run->touched) * kPageBytes);
}

// Makes a block of the heap's ranges larger in place. False: not possible. The pages of small blocks are never huge: one that becomes large moves.
static bool widen(struct heap *heap, struct run *run, uint32_t page, uint32_t pages) {
  if (heap->rule->flags & MLRUN_PLACE_RATIO) return pages <= run->room;
  if (heap->source != kAnonymous) return pages <= run->touched || has_file_space(heap, run, page, pages);
  if (pages >= kLargePages && range_of(heap, page) == &heap->ranges[kSmall]) return false;
  return range_widen(range_of(heap, page), page, live_pages(heap, page, pages));
}

// Gives the touched pages of a run from page number `left` of it on back to the kernel. False: it refuses.
static bool give_back_tail(const struct heap *heap, struct run *run, uint32_t page, uint32_t left) {
  if (run->touched <= left) return true;
  if (!give_back_pages(heap, address_of(page + left), (size_t)(run->touched - left) * kPageBytes)) return false;
  run->touched = left;
  return true;
}

// Makes a block smaller. The pages cut off are given back to the kernel only if they are half of the run or more, because that costs a system call,
// or if the rule has a budget, which does not count them.
static void shrink(struct heap *heap, struct run *run, uint32_t page, uint32_t pages) {
  uint32_t live = live_pages(heap, page, pages), room = size_pages(size_number(live));
  bool narrows = room <= run->room / 2 && !run->pieces, is_limited = heap->rule->budget_bytes;
  if ((narrows || is_limited) && !heap->keeps_all) {
    bool done = give_back_tail(heap, run, page, is_limited ? live : room);
    heap->keeps_all = !done;
    if (done && narrows) range_narrow(range_of(heap, page), page, room);
  }
  set_pages(heap, run, page, pages);
}

// Makes a block in the yard for a growing one; null: not possible. The pages of a block of 4 MiB or more are moved there if the kernel can (run->touched is 0 then); else the caller copies the contents, as
// where advice of the program has made several mappings of the block. All touched pages move, of which the block may have fewer after it became
// smaller: what stays would hold old contents in a run that counts as never touched.
static void *to_yard(struct heap *heap, struct run *run, uint32_t page, uint32_t pages) {
  uint32_t old = run->touched;
  struct range *large = &heap->ranges[kLarge];
  uint32_t place = yard_take(&heap->yard, pages);
  if (place == kNoPage) return NULL;
  char *from = address_of(page), *to = address_of(place);
  size_t bytes = (size_t)old * kPageBytes;
  bool moves = range_of(heap, page) == large && old >= kMovePages && old <= pages && pages_are_one_mapping(from, bytes);
  int error = pages_hold(to, moves ? bytes : kPageBytes);
  if (error) {
    // Where the program has mapped something, the place stays marked as taken.
    if (error != EEXIST) yard_give_up(&heap->yard, place, 0);
    return NULL;
  }
  bool moved = moves && pages_move(from, bytes, to);
  if (moves && !moved) pages_unmap(to + kPageBytes, bytes - kPageBytes);
  bool there = moved || pages_move(range_seed(large), kPageBytes, to);
  uint32_t have = moved ? old : 1;
  if (!there || !yard_begin(&heap->yard, place, have, pages)) {
    bool is_back = moved && pages_move_back(to, bytes, from);
    if (moved && !is_back) memcpy(from, to, bytes);
    yard_give_up(&heap->yard, place, is_back ? 0 : have);
    return NULL;
  }
  struct run *grown = run_at(place);
  grown->rule = run->rule;
  if (moved) {
    run->touched = 0;
    pages_give_back(from, bytes);  // they are gone already; for those that watch libc's madvise (pages.h)
  }
  return to;
}

// A growing block may go to the yard. pages_move() unlocks what it moves pages away from.
static bool may_go_to_yard(const struct heap *heap) {
  return heap->source == kAnonymous && !(heap->rule->flags & (MLRUN_PLACE_RATIO | MLRUN_PLACE_HUGE)) &&
         !new_memory_is_locked();
}

// A block of `pages` pages in the yard where an earlier one has left its mapping; null: none, or the kernel has refused that the mapping grows, which
// is gone then (the lock was released meanwhile). Blocks below 1 MiB leave half of the places to others; pages of 4 MiB and more are moved to a new
// place instead of copied.
static void *at_kept_place(struct heap *heap, const struct run *run, uint32_t pages) {
  bool few_are_left = heap->yard.count > kYardPlaces / 2;
  if (!may_go_to_yard(heap) || run->touched >= kMovePages || (pages < kYardPages && few_are_left)) return NULL;
  // The first 2 MiB may be a huge page, which stays in memory as a whole when the end is unmapped, beyond the budget.
  uint32_t most = pages < kLargePages && heap->rule->budget_bytes ? kLargePages - 1 : UINT32_MAX;
  uint32_t place = yard_find_kept(&heap->yard, pages, most);
  if (place == kNoPage) return NULL;
  heap_reuse(heap, place);
  if (pages > run_at(place)->touched && !yard_widen(&heap->yard, place, pages)) {
    yard_take_kept(&heap->yard, place);
    heap_give_back(heap, place);
    return NULL;
  }
  yard_take_kept(&heap->yard, place);
  yard_reuse(&heap->yard, place, pages);
  heap_keep_tail(heap, place);
  return address_of(place);
}

// The block is at another place of its heap from now on, where its size is `pages`.
static void *moved_to(struct heap *heap, struct run *run, uint32_t page, void *block, uint32_t pages) {
  uint32_t old = run->pages;
  note_live(heap, (int64_t)pages - old);  // while the lock is held, so that other threads' budget checks see it
  if (run->touched) {
    heap_unlock(heap);
    memcpy(block, address_of(page), (size_t)old * kPageBytes);
    heap_lock(heap);
  }
  heap_release(heap, page);
  make_room_in_budget(heap, 0);  // where the block was copied, its old pages are kept now
  return block;
}

static void *resize_grown(struct heap *heap, struct run *run, uint32_t page, uint32_t pages) {
  heap_reuse_tail(heap, page);
  bool done = pages <= run->touched || yard_widen(&heap->yard, page, pages);
  if (done) {
    note_live(heap, gained(heap, run, page, pages));
    run->pages = pages;
  }
  heap_release_tail(heap, page);
  return done ? address_of(page) : NULL;
}

// A block that grows has room in the budget.
static bool fits_budget(struct heap *heap, const struct run *run, uint32_t page, uint32_t pages) {
  return pages <= run->pages || make_room_in_budget(heap, (uint64_t)gained(heap, run, page, pages));
}

// Resizes a block inside its heap, as far as possible without a new block of the ranges; null: not possible. Pages that are there come first.
static void *resize_here(struct heap *heap, struct run *run, uint32_t page, uint32_t pages) {
  if (run->state == kGrown) return resize_grown(heap, run, page, pages);
  if (pages <= run->pages) {
    shrink(heap, run, page, pages);
    return address_of(page);
  }
  void *block = pages > run->touched ? at_kept_place(heap, run, pages) : NULL;
  if (block) return moved_to(heap, run, page, block, pages);
  if (!fits_budget(heap, run, page, pages)) return NULL;  // the lock may have been released
  if (widen(heap, run, page, pages)) {
    set_pages(heap, run, page, pages);
    return address_of(page);
  }
  block = may_go_to_yard(heap) && pages >= kYardPages ? to_yard(heap, run, page, pages) : NULL;
  return block ? moved_to(heap, run, page, block, pages) : NULL;
}

// Resizes by a copy into a new block. The budget must have room for both: pages beyond it would be on the node for a while, or could not be there at
// all (strict). A growing block gets half as much again as room, unless the kernel would fill that at once.
static void *copied(struct run *run, void *block, size_t bytes) {
  struct heap *heap = &heaps[run->rule];
  size_t old = heap_usable(run), keep = old < bytes ? old : bytes;
  size_t room = bytes > old && !new_memory_is_locked() ? bytes + bytes / 2 : bytes;
  void *fresh = heap_allocate_with_room(heap->number, bytes, room);
  if (!fresh && room > bytes) fresh = heap_allocate_with_room(heap->number, bytes, bytes);
  if (!fresh) return NULL;
  heap_lock(heap);
  heap->count->matches--;  // a realloc is not another allocation
  heap->count->bytes -= bytes;
  heap_unlock(heap);
  memcpy(fresh, block, keep);
  heap_free(run, block);
  return fresh;
}

void *heap_resize(struct run *run, void *block, size_t bytes) {
  struct heap *heap = &heaps[run->rule];
  if (bytes >= window.bytes) return NULL;
  uint32_t pages = pages_for(bytes), page = page_of(block);
  heap_lock(heap);
  bool fits = fits_budget(heap, run, page, pages);
  void *result = fits ? resize_here(heap, run, page, pages) : NULL;
  heap_unlock(heap);
  if (result || !fits) return result;
  result = copied(run, block, bytes);
  if (result) return result;
  // Where the kernel refuses memory, the attempt to copy has given back all kept pages: now there may be room in place.
  heap_lock(heap);
  if (fits_budget(heap, run, page, pages)) result = resize_here(heap, run, page, pages);
  heap_unlock(heap);
  return result;
}
