// SPDX-License-Identifier: Apache-2.0
#include "preload/placement/memory_locks.h"

#include "preload/base/real_function.h"
#include "preload/core/confinement.h"
#include "preload/placement/heap.h"
#include "preload/placement/heap_parts.h"

#ifndef MLOCK_ONFAULT
#define MLOCK_ONFAULT 1
#endif

int locked_later;
bool blocks_are_locked;
// By MCL_CURRENT together with MCL_FUTURE: all memory of the heaps, which then needs no locks of its own.
static bool all_is_locked;

static void lock(uint32_t page, uint32_t pages, unsigned how) {
  raw_syscall3(SYS_mlock2, (long)address_of(page), (long)pages * kPageBytes, how);
}

static void unlock(uint32_t page, uint32_t pages) {
  raw_syscall2(SYS_munlock, (long)address_of(page), (long)pages * kPageBytes);
}

// Whether a further run may differ from its neighbours in its lock, which makes two more mappings of the kernel. They stay counted as pieces also
// when the lock ends: the kernel does not merge all of them again. splits: those of this mlockall.
static bool may_split(uint32_t *splits) {
  enum { kSplits = 2 };
  static uint32_t counted;
  if (*splits + kSplits > __atomic_load_n(&counted, __ATOMIC_RELAXED)) {
    if (!ratio_begin_pieces(kSplits)) return false;
    __atomic_fetch_add(&counted, kSplits, __ATOMIC_RELAXED);
  }
  *splits += kSplits;
  return true;
}

// mlockall or mlrun has filled clean runs with pages if it locked them.
static void follow_free_run(uint32_t page, const struct run *run, uint32_t *splits) {
  bool is_clean = run->state == kClean;
  if (!is_clean && run->state != kKept) return;
  if (new_memory_is_locked()) {
    if (!all_is_locked && may_split(splits)) lock(page, run->room, MLOCK_ONFAULT);
  } else if (is_clean && may_split(splits)) {
    unlock(page, run->room);
  }
  if (is_clean) pages_give_back(address_of(page), (size_t)run->room * kPageBytes);
}

static void follow_range(struct range *range, uint32_t *splits) {
  range_trim(range);
  if (new_memory_is_locked())
    lock(range->top, 1, new_memory_is_filled() ? 0 : MLOCK_ONFAULT);
  else
    unlock(range->top, 1);
  for (uint32_t page = range->first; page < range->top; page += run_at(page)->room)
    follow_free_run(page, run_at(page), splits);
}

void follow_mlockall(int flags) {
  int later = flags & MCL_FUTURE ? flags & (MCL_FUTURE | MCL_ONFAULT) : 0;
  uint32_t splits = 0;
  __atomic_store_n(&locked_later, later, __ATOMIC_RELAXED);
  if (flags & MCL_CURRENT) all_is_locked = later != 0;
  __atomic_store_n(&blocks_are_locked, true, __ATOMIC_RELAXED);
  for (uint32_t i = 0; i < heaps_opened; i++) {
    struct heap *heap = &heaps[i];
    if (heap->source != kAnonymous || heap->rule->calls == MLRUN_PLACE_MMAP) continue;
    heap_lock(heap);
    caches_empty(heap);
    heap_empty_yard(heap);
    for (uint32_t which = 0; which < kRanges && !is_confined(); which++) follow_range(&heap->ranges[which], &splits);
    heap_unlock(heap);
  }
}

void forget_locks(void) {
  __atomic_store_n(&locked_later, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&blocks_are_locked, false, __ATOMIC_RELAXED);
  all_is_locked = false;
}

EXPORT int mlockall(int flags) {
  REAL(int, mlockall, int);
  int result = real(flags);
  if (result == 0) follow_mlockall(flags);
  return result;
}

EXPORT int munlockall(void) {
  REAL(int, munlockall, void);
  int result = real();
  if (result == 0) forget_locks();
  return result;
}
