// SPDX-License-Identifier: Apache-2.0
// What a hook of the allocation family leaves behind: a record for a block of --alloc-min usable bytes or more, one
// more in a counter of the thread's channel for a smaller one.
#pragma once

#include "preload/channel.h"
#include "preload/real_allocator.h"
#include "preload/recorder.h"
#include "runner/events/alloc_class.h"

#pragma GCC visibility push(hidden)

extern uint64_t alloc_min_bytes;

// What an allocation asked for and got.
struct allocation {
  uint32_t kind;
  void *block;
  size_t size, usable;  // usable may be SIZE_UNKNOWN
  uint64_t site;        // return address of the call
};

bool may_count(void);
void count_coarse(size_t usable, bool is_free);

// True: the block is below the threshold, and counted if the thread may record. Each counter is changed by one
// instruction, because the collector reads them at any time and a signal handler may be counting too.
INLINE bool counted(size_t usable, bool is_free) {
  if (unlikely(usable >= alloc_min_bytes)) return false;
  if (unlikely(*generation != control->state || !this_thread.channel) && !may_count()) return true;
  if (unlikely(usable >= MLRUN_FINE_LIMIT_BYTES)) {
    count_coarse(usable, is_free);
    return true;
  }
  struct mlrun_fine_count *class = &this_thread.channel->fine[mlrun_fine_class(usable)];
  count_local(is_free ? &class->frees : &class->allocs);
  return true;
}

INLINE void fill_allocation(uint64_t *w, const struct allocation *a) {
  uint64_t excess = a->usable - a->size;
  if (unlikely(excess > 4095)) excess = a->usable == SIZE_UNKNOWN ? 0 : 4095;
  w[2] = (uint64_t)a->block << 5 | excess << 52;
  w[3] = (a->size & 0xffffffffffff) | a->site >> 32 << 48;
}

INLINE void put_allocation(const struct allocation *a) {
  uint8_t lap;
  uint64_t *w = reserve(32, &lap);
  if (unlikely(!w)) return;
  w[1] = now_ticks();
  fill_allocation(w, a);
  publish(w, lap, 2, a->kind, (uint32_t)a->site);
}

#pragma GCC visibility pop
