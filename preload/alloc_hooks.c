// SPDX-License-Identifier: Apache-2.0
// The allocation family. The allocator stays the program's own; free is recorded before the block is gone and an
// allocation after it is there, so that no two live blocks share an address in the trace. A failed call leaves nothing
// behind.
#include "preload/alloc_hooks.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "preload/alloc_record.h"
#include "preload/alloc_sampler.h"
#include "preload/process_record.h"
#include "preload/sampled_blocks.h"

#define SITE ((uint64_t)__builtin_return_address(0))

enum { kTimedBytes = 128 << 10 };  // from here on glibc maps and unmaps: worth a duration

HOT uint64_t alloc_min_bytes = MLRUN_FINE_LIMIT_BYTES;
HOT static bool hooks_on;  // the functions are looked up and the stream is on
static bool stream_off;

void alloc_hooks_configure(uint64_t min_bytes, uint64_t mean_sample_bytes) {
  sample_bytes = mean_sample_bytes;
  stream_off = min_bytes == ALLOCS_OFF;
  hooks_on = hooks_on && !stream_off;
  alloc_min_bytes = min_bytes < MLRUN_ALLOC_MIN_LIMIT ? min_bytes : MLRUN_ALLOC_MIN_LIMIT;  // the classes end there
}

static COLD bool start_hooks(void) {
  if (!real_allocator.malloc) real_allocator_resolve();
  hooks_on = !stream_off;
  return hooks_on;
}

COLD void count_slowly(size_t usable, bool is_free) {
  if (!may_record() || stream_off || (!this_thread.channel && !register_thread())) return;
  if (!process.wiped->announced) process_record_write();
  if (usable < MLRUN_FINE_LIMIT_BYTES) {
    struct mlrun_fine_count *fine = &this_thread.channel->fine[mlrun_fine_class(usable)];
    count_local(is_free ? &fine->frees : &fine->allocs);
    return;
  }
  struct mlrun_coarse_count *coarse = &this_thread.channel->coarse[mlrun_coarse_class(usable)];
  count_local(is_free ? &coarse->frees : &coarse->allocs);
  add_local(is_free ? &coarse->free_bytes : &coarse->alloc_bytes, usable);
}

// Of blocks at or above the threshold. Without sampling all are listed; those that are not are counted.
static COLD bool picked(void *block, size_t size) {
  if (!sampler_picks(&this_thread.sampler, size, now_ticks() ^ (uint64_t)(uintptr_t)&this_thread)) return false;
  if (!sampled_blocks_add(block)) count_failure(MLRUN_FAIL_SAMPLES);
  return true;
}

INLINE bool is_listed(void *block, size_t size) { return likely(!sample_bytes) || picked(block, size); }
INLINE bool was_listed(void *block) { return likely(!sample_bytes) || sampled_blocks_remove(block); }

// The recording halves of the hooks, apart from them so that the counting halves need hardly a register.
static __attribute__((noinline)) void *recorded(uint32_t kind, void *block, size_t size, size_t usable, uint64_t site) {
  struct allocation a = {kind, block, size, usable, site};
  if (is_listed(block, size))
    put_allocation(&a);
  else
    count_block(usable, false);
  return block;
}

static __attribute__((noinline)) void recorded_free(void *block, size_t usable, uint64_t site) {
  struct allocation a = {MLRUN_FREE, block, usable != SIZE_UNKNOWN ? usable : 0, usable, site};
  if (was_listed(block))
    put_free(&a);
  else
    count_block(usable, true);
  real_allocator.free(block);
}

// Three units: with a duration (start not 0), an alignment, or both.
static void put_long_allocation(struct allocation *a, uint64_t start, size_t alignment) {
  uint64_t end = start ? now_ticks() : 0;
  uint8_t lap;
  uint64_t *w = reserve_allocation(a, 48, &lap);
  if (!w) return;
  w[1] = start ? start : now_ticks();
  fill_allocation(w, a);
  w[4] = (end - start) << 8;
  w[5] = alignment;
  publish(w, lap, 3, a->kind, (uint32_t)a->site);
}

static COLD void *allocated_long(uint32_t kind, void *block, size_t size, uint64_t site, uint64_t start,
                                 size_t alignment) {
  if (!block) return block;
  struct allocation a = {kind, block, size, usable_size(block), site};
  if (a.usable < alloc_min_bytes || !is_listed(block, size))
    count_block(a.usable, false);
  else
    put_long_allocation(&a, start, alignment);
  return block;
}

INLINE void *allocated(uint32_t kind, void *block, size_t size, uint64_t site) {
  if (unlikely(!block)) return block;
  size_t usable = usable_size(block);
  if (usable >= alloc_min_bytes) return recorded(kind, block, size, usable, site);
  count_block(usable, false);
  return block;
}

static COLD void *timed_malloc(size_t size, uint64_t site) {
  uint64_t start = stamp();
  return allocated_long(MLRUN_MALLOC, real_allocator.malloc(size), size, site, start, 0);
}

static COLD void *timed_calloc(size_t count, size_t each, uint64_t site) {
  uint64_t start = stamp();
  return allocated_long(MLRUN_CALLOC, real_allocator.calloc(count, each), count * each, site, start, 0);
}

EXPORT void *malloc(size_t size) {
  if (unlikely(!hooks_on) && !start_hooks()) return real_allocator.malloc(size);
  if (unlikely(size >= kTimedBytes)) return timed_malloc(size, SITE);
  return allocated(MLRUN_MALLOC, real_allocator.malloc(size), size, SITE);
}

EXPORT void *calloc(size_t count, size_t each) {
  if (unlikely(!hooks_on) && !start_hooks()) return real_allocator.calloc(count, each);
  size_t size = count * each;  // where this overflows the real one fails
  if (unlikely(size >= kTimedBytes)) return timed_calloc(count, each, SITE);
  return allocated(MLRUN_CALLOC, real_allocator.calloc(count, each), size, SITE);
}

INLINE void released(void *block, uint64_t site) {
  if (unlikely(!block)) return;
  if (likely(hooks_on) || start_hooks()) {
    size_t usable = usable_size(block);
    if (usable >= alloc_min_bytes) {
      recorded_free(block, usable, site);
      return;
    }
    count_block(usable, true);
  }
  real_allocator.free(block);
}

EXPORT void free(void *block) { released(block, SITE); }

// Names of old and of new: a libc that has them does nothing more than free.
void cfree(void *block);
void free_sized(void *block, size_t size);
void free_aligned_sized(void *block, size_t alignment, size_t size);

EXPORT void cfree(void *block) { released(block, SITE); }

EXPORT void free_sized(void *block, size_t size) {
  (void)size;
  released(block, SITE);
}

EXPORT void free_aligned_sized(void *block, size_t alignment, size_t size) {
  (void)alignment;
  (void)size;
  released(block, SITE);
}

// realloc(block, 0) of most allocators. The record carries the time before the block was gone.
static void freed_by_realloc(void *block, size_t usable, uint64_t start, uint64_t site, bool listed) {
  if (!listed) {
    count_block(usable, true);
    return;
  }
  struct allocation a = {MLRUN_FREE, block, usable != SIZE_UNKNOWN ? usable : 0, usable, site};
  uint8_t lap;
  uint64_t *w = start ? reserve(32, &lap) : NULL;
  if (!w) return;
  w[1] = start;
  fill_allocation(w, &a);
  publish(w, lap, 2, a.kind, (uint32_t)site);
}

static void put_reallocation(struct allocation *a, void *old, size_t old_usable, uint64_t start) {
  uint8_t lap;
  uint64_t end = start ? now_ticks() : 0, *w = start ? reserve_allocation(a, 64, &lap) : NULL;
  if (!w) return;
  w[1] = start;
  fill_allocation(w, a);
  w[4] = (uint64_t)old << 5;
  w[5] = old_usable != SIZE_UNKNOWN ? old_usable : 0;
  w[6] = (end - start) << 8;
  w[7] = 0;
  publish(w, lap, 4, a->kind, (uint32_t)a->site);
}

// With sampling the old block's end and the new one's beginning are two events, each listed or counted for itself.
static COLD void put_sampled_reallocation(struct allocation *a, void *old, size_t old_usable, uint64_t start,
                                          bool was_picked) {
  bool is_picked = a->usable >= alloc_min_bytes && picked(a->block, a->size);
  if (is_picked) {
    put_reallocation(a, was_picked ? old : NULL, was_picked ? old_usable : 0, start);
  } else {
    if (was_picked) freed_by_realloc(old, old_usable, start, a->site, true);
    count_block(a->usable, false);
  }
  if (old && !was_picked) count_block(old_usable, true);
}

// Recorded when either side is at or above the threshold, else both are counted.
static void *resize(uint32_t kind, void *old, size_t size, uint64_t site) {
  uint64_t start = stamp();
  size_t old_usable = old ? usable_size(old) : 0;
  bool old_listed = old && old_usable >= alloc_min_bytes && was_listed(old);
  void *block = real_allocator.realloc(old, size);
  if (!block) {
    if (old && !size) freed_by_realloc(old, old_usable, start, site, old_listed);
    if (size && old_listed && sample_bytes && !sampled_blocks_add(old)) count_failure(MLRUN_FAIL_SAMPLES);
    return block;
  }
  struct allocation a = {kind, block, size, usable_size(block), site};
  if (unlikely(sample_bytes)) {
    put_sampled_reallocation(&a, old, old_usable, start, old_listed);
    return block;
  }
  if (a.usable >= alloc_min_bytes || old_usable >= alloc_min_bytes) {
    put_reallocation(&a, old, old_usable, start);
    return block;
  }
  if (old) count_block(old_usable, true);
  count_block(a.usable, false);
  return block;
}

EXPORT void *realloc(void *old, size_t size) {
  if (unlikely(!hooks_on) && !start_hooks()) return real_allocator.realloc(old, size);
  return resize(MLRUN_REALLOC, old, size, SITE);
}

// libc's own would call realloc, which is hooked.
EXPORT void *reallocarray(void *old, size_t count, size_t each) {
  size_t size;
  if (__builtin_mul_overflow(count, each, &size)) {
    errno = ENOMEM;
    return NULL;
  }
  if (unlikely(!hooks_on) && !start_hooks()) return real_allocator.realloc(old, size);
  return resize(MLRUN_REALLOCARRAY, old, size, SITE);
}

static uint64_t start_if_timed(size_t size) { return size >= kTimedBytes ? stamp() : 0; }

EXPORT int posix_memalign(void **block, size_t alignment, size_t size) {
  if (unlikely(!hooks_on) && !start_hooks()) return real_allocator.posix_memalign(block, alignment, size);
  uint64_t start = start_if_timed(size);
  int error = real_allocator.posix_memalign(block, alignment, size);
  if (!error) allocated_long(MLRUN_POSIX_MEMALIGN, *block, size, SITE, start, alignment);
  return error;
}

EXPORT void *aligned_alloc(size_t alignment, size_t size) {
  if (unlikely(!hooks_on) && !start_hooks()) return real_allocator.aligned_alloc(alignment, size);
  uint64_t start = start_if_timed(size);
  return allocated_long(MLRUN_ALIGNED_ALLOC, real_allocator.aligned_alloc(alignment, size), size, SITE, start,
                        alignment);
}

EXPORT void *memalign(size_t alignment, size_t size) {
  if (unlikely(!hooks_on) && !start_hooks()) return real_allocator.memalign(alignment, size);
  uint64_t start = start_if_timed(size);
  return allocated_long(MLRUN_MEMALIGN, real_allocator.memalign(alignment, size), size, SITE, start, alignment);
}

EXPORT void *valloc(size_t size) {
  if (unlikely(!hooks_on) && !start_hooks()) return real_allocator.valloc(size);
  uint64_t start = start_if_timed(size);
  return allocated_long(MLRUN_VALLOC, real_allocator.valloc(size), size, SITE, start, 0);
}

EXPORT void *pvalloc(size_t size) {
  if (unlikely(!hooks_on) && !start_hooks()) return real_allocator.pvalloc(size);
  uint64_t start = start_if_timed(size);
  return allocated_long(MLRUN_PVALLOC, real_allocator.pvalloc(size), size, SITE, start, 0);
}
