// SPDX-License-Identifier: Apache-2.0
// realloc in a heap. A block that grows to 1 MiB or more and has no room in place moves to the yard, where it can grow further without a copy.
// Growing blocks that cannot go there are copied and get half as much again as room.
#include <errno.h>
#include <string.h>

#include "preload/placement/heap.h"
#include "preload/placement/heap_parts.h"
#include "preload/placement/memory_locks.h"

enum { kYardPages = 256, kMovePages = 1024 };  // 1 MiB; from 4 MiB on pages are moved instead of copied

static void set_pages(struct heap *heap, struct run *run, uint32_t pages) {
  note_live(heap, (int64_t)pages - run->pages);
  run->pages = pages;
  if (run->touched < pages) run->touched = pages;
}

// The file has space for touched pages only. Makes space for more of a run's pages.
static bool has_file_space(const struct heap *heap, const struct run *run, uint32_t page, uint32_t pages) {
  return heap->source == kInFile && pages <= run->room &&
         file_populate(address_of(page + run->touched), (size_t)(pages - run->touched) * kPageBytes);
}

// Makes a block of the heap's ranges larger in place. False: not possible.
static bool widen(struct heap *heap, struct run *run, uint32_t page, uint32_t pages) {
  if (heap->rule->flags & MLRUN_PLACE_RATIO) return pages <= run->room;
  if (heap->source != kAnonymous) return pages <= run->touched || has_file_space(heap, run, page, pages);
  return range_widen(range_of(heap, page), page, pages);
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
  uint32_t room = size_pages(size_number(pages));
  bool narrows = room <= run->room / 2 && !run->pieces, is_limited = heap->rule->budget_bytes;
  if ((narrows || is_limited) && !heap->keeps_all) {
    bool done = give_back_tail(heap, run, page, is_limited ? pages : room);
    heap->keeps_all = !done;
    if (done && narrows) range_narrow(range_of(heap, page), page, room);
  }
  set_pages(heap, run, pages);
}

// Makes a block in the yard for a growing one; null: not possible. The pages of a block of 4 MiB or more are moved there if the kernel can
// (run->touched is 0 then); else the caller copies the contents, as where advice of the program has made several mappings of the block. All touched
// pages move, of which the block may have fewer after it became smaller: what stays would hold old contents in a run that counts as never touched.
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

static void *grow(struct heap *heap, struct run *run, uint32_t page, uint32_t pages) {
  uint32_t old = run->pages;
  if (pages < kYardPages || heap->source != kAnonymous) return NULL;
  if (heap->rule->flags & (MLRUN_PLACE_RATIO | MLRUN_PLACE_HUGE)) return NULL;
  if (new_memory_is_locked()) return NULL;  // pages_move() unlocks what it moves pages away from
  void *block = to_yard(heap, run, page, pages);
  if (!block) return NULL;
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
  uint32_t old = run->pages;
  if (!yard_resize(&heap->yard, page, pages)) return NULL;
  note_live(heap, (int64_t)pages - old);
  return address_of(page);
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
  void *result = NULL;
  heap_lock(heap);
  if (pages > run->pages && !make_room_in_budget(heap, pages - run->pages)) {
    heap_unlock(heap);
    return NULL;
  }
  if (run->state == kGrown) {
    result = resize_grown(heap, run, page, pages);
  } else if (pages <= run->pages) {
    shrink(heap, run, page, pages);
    result = block;
  } else if (widen(heap, run, page, pages)) {
    set_pages(heap, run, pages);
    result = block;
  } else {
    result = grow(heap, run, page, pages);
  }
  heap_unlock(heap);
  return result ? result : copied(run, block, bytes);
}
