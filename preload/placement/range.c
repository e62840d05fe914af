// SPDX-License-Identifier: Apache-2.0
#include "preload/placement/range.h"

#include "preload/placement/file_heap.h"
#include "preload/placement/memory_locks.h"
#include "preload/placement/pages.h"

enum { kStepPages = 1024, kTrimPages = 64, kKeptTries = 64 };

static void list_add(struct run_lists *lists, uint32_t number, uint32_t page) {
  struct run *run = run_at(page);
  uint32_t first = lists->first[number];
  run->prev = kNoPage;
  run->next = first;
  if (first != kNoPage) run_at(first)->prev = page;
  lists->first[number] = page;
  lists->any[number / 64] |= 1ull << number % 64;
}

static void list_remove(struct run_lists *lists, uint32_t number, uint32_t page) {
  const struct run *run = run_at(page);
  if (run->next != kNoPage) run_at(run->next)->prev = run->prev;
  if (run->prev != kNoPage)
    run_at(run->prev)->next = run->next;
  else
    lists->first[number] = run->next;
  if (lists->first[number] == kNoPage) lists->any[number / 64] &= ~(1ull << number % 64);
}

// The first size number in [number, end) whose list has a run; `end`: none has.
static uint32_t list_find(const struct run_lists *lists, uint32_t number, uint32_t end) {
  for (uint32_t word = number / 64; word < kSizeWords; word++) {
    uint64_t any = lists->any[word] & (word == number / 64 ? ~0ull << number % 64 : ~0ull);
    if (!any) continue;
    uint32_t found = word * 64 + (uint32_t)__builtin_ctzll(any);
    return found < end ? found : end;
  }
  return end;
}

// A clean run is in the list of the largest size that fits into it.
static uint32_t held_size(uint32_t pages) {
  uint32_t number = size_number(pages);
  return size_pages(number) > pages ? number - 1 : number;
}

static void clean_add(struct range *range, uint32_t page, uint32_t room) {
  struct run *run = run_at(page);
  run->room = room;
  run->touched = 0;
  run->state = kClean;
  if (room > 1) {
    struct run *last = run_at(page + room - 1);
    last->state = kCleanEnd;
    last->room = room;
  }
  list_add(&range->clean, held_size(room), page);
}

static void clean_remove(struct range *range, uint32_t page) {
  struct run *run = run_at(page);
  list_remove(&range->clean, held_size(run->room), page);
  run->state = kNoRun;
  run_at(page + run->room - 1)->state = kNoRun;
}

static bool map_first(uint32_t page, struct range_file file) {
  if (file.fd < 0) return pages_map(address_of(page), kPageBytes) != NULL;
  return file_map(file.fd, address_of(page), kPageBytes, (uint64_t)(page - file.from) * kPageBytes);
}

bool range_open(struct range *range, uint32_t from, uint32_t end, struct range_file file) {
  range->first = range->top = from + 1;  // never page 0, which is kNoPage
  range->mapped = range->top + 1;
  range->end = end;
  return map_first(range->top, file);
}

void *range_seed(const struct range *range) { return address_of(range->mapped - 1); }

// Also adds the range's first table: a rule without blocks then needs no table, which saves address space where that is limited.
static bool map_up_to(struct range *range, uint32_t mapped) {
  if (mapped > range->end || !window_add_tables(range->mapped - 1, mapped)) return false;
  size_t more = (size_t)(mapped - range->mapped) * kPageBytes;
  if (!pages_resize(range_seed(range), kPageBytes, kPageBytes + more)) return false;
  range->mapped = mapped;
  return true;
}

// Maps the memory of `pages` pages from the top on, and, to save system calls, if possible an eighth of what is mapped (at most 4 MiB) more. Not
// if the kernel would lock it.
static bool reach(struct range *range, uint32_t pages) {
  uint64_t needed = (uint64_t)range->top + pages + 1;
  if (needed <= range->mapped) return true;
  if (needed > range->end) return false;
  uint32_t spare = (range->mapped - range->first) / 8;
  if (spare > kStepPages) spare = kStepPages;
  if (new_memory_is_locked()) spare = 0;
  return map_up_to(range, (uint32_t)needed + spare) || map_up_to(range, (uint32_t)needed);
}

static void make_live(uint32_t page, uint32_t room) {
  struct run *run = run_at(page);
  run->room = room;
  run->touched = 0;
  run->pieces = 0;
  run->state = kLive;
}

// One of the runs of this size that were kept last.
static uint32_t kept_run(const struct range *range, uint32_t number, uint32_t align) {
  uint32_t page = range->kept.first[number];
  for (int tries = 0; page != kNoPage && tries < kKeptTries; tries++, page = run_at(page)->next)
    if (is_aligned(page, align)) return page;
  return kNoPage;
}

uint32_t range_take_kept(struct range *range, uint32_t pages, uint32_t align) {
  uint32_t near = size_number(pages + pages / 8) + 1;
  for (uint32_t number = size_number(pages); (number = list_find(&range->kept, number, near)) != near; number++) {
    uint32_t page = kept_run(range, number, align);
    if (page == kNoPage) continue;
    list_remove(&range->kept, number, page);
    run_at(page)->state = kLive;
    return page;
  }
  return kNoPage;
}

// Cuts a live run out of a clean one, or (have: 0) out of the unused pages from the top on. Pages left over become clean runs.
static uint32_t carve(struct range *range, uint32_t page, uint32_t have, uint32_t room, uint32_t align) {
  uint64_t at = (window.base >> kPageBits) + page;
  uint32_t skip = (uint32_t)((at + align - 1) / align * align - at);
  if (skip) clean_add(range, page, skip);
  if (have > skip + room) clean_add(range, page + skip + room, have - skip - room);
  make_live(page + skip, room);
  return page + skip;
}

uint32_t range_take_clean(struct range *range, uint32_t pages, uint32_t align) {
  uint32_t room = size_pages(size_number(pages));
  uint64_t most = (uint64_t)room + align - 1;
  if (most >= range->end - range->first) return kNoPage;
  uint32_t number = list_find(&range->clean, size_number((uint32_t)most), kRunSizes);
  if (number != kRunSizes) {
    uint32_t page = range->clean.first[number], have = run_at(page)->room;
    clean_remove(range, page);
    return carve(range, page, have, room, align);
  }
  if (!reach(range, (uint32_t)most)) return kNoPage;
  uint32_t page = range->top, taken = carve(range, page, 0, room, align);
  range->top = taken + room;
  return taken;
}

bool range_widen(struct range *range, uint32_t page, uint32_t pages) {
  struct run *run = run_at(page);
  uint32_t room = size_pages(size_number(pages)), behind = page + run->room, more = room - run->room;
  if (room <= run->room) return true;
  if (behind == range->top) {
    if (!reach(range, more)) return false;
    range->top += more;
  } else {
    struct run *next = run_at(behind);
    if (state_of(next) != kClean || next->room < more) return false;
    uint32_t have = next->room;
    clean_remove(range, behind);
    if (have > more) clean_add(range, behind + more, have - more);
  }
  run->room = room;
  return true;
}

void range_narrow(struct range *range, uint32_t page, uint32_t room) {
  struct run *run = run_at(page);
  uint32_t behind = page + room, rest = run->room - room;
  run->room = room;
  if (run->touched > room) run->touched = room;
  struct run *tail = run_at(behind);
  tail->room = rest;
  range_add_clean(range, behind);
}

void range_keep(struct range *range, uint32_t page) {
  struct run *run = run_at(page);
  run->state = kKept;
  list_add(&range->kept, size_number(run->room), page);
}

void range_forget_kept(struct range *range, uint32_t page) {
  struct run *run = run_at(page);
  list_remove(&range->kept, size_number(run->room), page);
  run->state = kLeaving;
}

void range_trim(struct range *range) {
  uint32_t mapped = range->top + 1;
  if (range->mapped == mapped) return;
  pages_unmap(address_of(mapped), (size_t)(range->mapped - mapped) * kPageBytes);
  range->mapped = mapped;
}

void range_add_clean(struct range *range, uint32_t page) {
  uint32_t room = run_at(page)->room;
  run_at(page)->state = kNoRun;
  if (page > range->first) {
    const struct run *before = run_at(page - 1);
    enum run_state state = state_of(before);
    if (state == kClean || state == kCleanEnd) {
      uint32_t have = before->room;
      page -= have;
      clean_remove(range, page);
      room += have;
    }
  }
  if (page + room < range->top && state_of(run_at(page + room)) == kClean) {
    uint32_t have = run_at(page + room)->room;
    clean_remove(range, page + room);
    room += have;
  }
  if (page + room == range->top) {
    range->top = page;
    if (range->mapped - page > kTrimPages) range_trim(range);
  } else {
    clean_add(range, page, room);
  }
}
