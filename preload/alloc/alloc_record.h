// SPDX-License-Identifier: Apache-2.0
// What an allocation hook writes: a record for a block of --alloc-min usable bytes or more; for a smaller one it
// increments a counter of the thread's channel.
#pragma once

#include "preload/base/real_allocator.h"
#include "preload/core/alloc_state.h"
#include "preload/core/recorder.h"
#include "preload/record/channel.h"
#include "preload/record/stack_record.h"
#include "runner/events/alloc_class.h"

#pragma GCC visibility push(hidden)

extern uint64_t alloc_min_bytes;

// Request and result of an allocation.
struct allocation {
  uint32_t kind;
  void *block;
  size_t size, usable;  // usable may be SIZE_UNKNOWN
  uint64_t site;        // return address of the call, or its stack (record.h)
};

// The slow half of counting: registers the thread if it may record, and counts blocks of the coarse classes too. In a
// forked child a free is counted only if the child allocated the block itself.
void count_slowly(const void *block, size_t usable, bool is_free);

// Counts a block below --alloc-min. Each counter is changed by one instruction, because the collector reads it at any
// time and a signal handler may be counting too. False: not counted, count_slowly has to do it.
INLINE bool count_quickly(size_t usable, bool is_free) {
  struct mlrun_channel *channel = this_thread.channel;
  if (unlikely(*generation != control->state || !channel || usable >= quick_limit_bytes)) return false;
  struct mlrun_fine_count *class = &channel->fine[mlrun_fine_class(usable)];
  count_local(is_free ? &class->frees : &class->allocs);
  return true;
}

INLINE void count_block(const void *block, size_t usable, bool is_free) {
  if (!count_quickly(usable, is_free)) count_slowly(block, usable, is_free);
}

enum { kShortExcessMax = 4095, kExcessPagesMax = 0xffff };

// The excess of usable over requested bytes does not fit in a record of two units. An allocator before its setup may
// report less than was requested.
INLINE bool has_large_excess(const struct allocation *a) {
  return a->usable > a->size && a->usable - a->size > kShortExcessMax && a->usable != SIZE_UNKNOWN;
}

INLINE void fill_allocation(uint64_t *w, const struct allocation *a) {
  uint64_t excess = a->usable - a->size;
  if (unlikely(excess > kShortExcessMax)) excess = 0;  // unknown, or fill_excess follows
  w[2] = (uint64_t)a->block << 5 | excess << 52;
  w[3] = (a->size & 0xffffffffffff) | a->site >> 32 << 48;
}

// Adds the whole excess to a record of three units or more, after fill_allocation. Returns the record's field `pages`
// (record.h), which the caller writes.
INLINE uint64_t fill_excess(uint64_t *w, const struct allocation *a) {
  if (likely(!has_large_excess(a))) return 0;
  uint64_t excess = a->usable - a->size, pages = excess >> 12;
  w[2] |= excess << 52;
  return pages < kExcessPagesMax ? pages : kExcessPagesMax;
}

// Reserves `bytes` for an allocation's record; its site becomes the stack if stacks are recorded.
INLINE uint64_t *reserve_allocation(struct allocation *a, uint32_t bytes, uint8_t *lap) {
  return likely(!stack_depth) ? reserve(bytes, a->kind, lap) : reserve_at_stack(&a->site, bytes, a->kind, lap);
}

INLINE void write_allocation_at(uint64_t *w, uint8_t lap, uint64_t ticks, const struct allocation *a) {
  w[1] = ticks;
  fill_allocation(w, a);
  publish(w, lap, 2, a->kind, (uint32_t)a->site);
}

INLINE void write_allocation(uint64_t *w, uint8_t lap, const struct allocation *a) {
  if (likely(w != NULL)) write_allocation_at(w, lap, now_ticks(), a);
}

INLINE void put_allocation(struct allocation *a) {
  uint8_t lap;
  uint64_t *w = reserve_allocation(a, 32, &lap);
  write_allocation(w, lap, a);
}

// A free has no stack: the allocation's record has the stack of the call that made the block.
INLINE void put_free(const struct allocation *a) {
  uint8_t lap;
  uint64_t *w = reserve(32, a->kind, &lap);
  write_allocation(w, lap, a);
}

#pragma GCC visibility pop
