// SPDX-License-Identifier: Apache-2.0
// The allocation family. The allocator is the program's own. A free is recorded before the block is released and an
// allocation after it is made, so that no two live blocks share an address in the trace. So the duration of a free needs
// a second record. A failed call leaves no record.
#include "preload/alloc/alloc_hooks.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "preload/alloc/alloc_record.h"
#include "preload/alloc/own_blocks.h"
#include "preload/alloc/sampled_blocks.h"
#include "preload/core/alloc_sampler.h"
#include "preload/record/process_record.h"

#define SITE ((uint64_t)__builtin_return_address(0))

enum { kTimedBytes = 128 << 10 };  // from this size on glibc maps and unmaps each block, which takes long
enum { kShortBytes = 32 };         // a record without a duration

HOT uint64_t alloc_min_bytes = MLRUN_FINE_LIMIT_BYTES;
HOT static size_t timed_bytes = kTimedBytes;  // allocations from this size on get a duration
HOT static bool hooks_on;                     // the real functions are looked up, and allocations are recorded
HOT static bool frees_vary;                   // frees take the slower path: with sampling, or if all get a duration
static bool stream_off;

void alloc_hooks_configure(uint64_t min_bytes, uint64_t mean_sample_bytes, bool times_all) {
  sample_bytes = mean_sample_bytes;
  timed_bytes = times_all ? 0 : kTimedBytes;
  frees_vary = sample_bytes || times_all;
  stream_off = min_bytes == ALLOCS_OFF;
  hooks_on = hooks_on && !stream_off;
  alloc_min_bytes = min_bytes < MLRUN_ALLOC_MIN_LIMIT ? min_bytes : MLRUN_ALLOC_MIN_LIMIT;  // the classes end there
}

static COLD bool start_hooks(void) {
  if (!real_allocator.malloc) real_allocator_resolve();
  hooks_on = !stream_off;
  return hooks_on;
}

// At the first allocation that is recorded: until then allocations take the slower path.
static COLD void note_listed(void) {
  if (!may_record()) return;
  allocs_listed = true;
  records_vary = sample_bytes != 0;
}

// A free of a block that a forked child has inherited is not counted.
INLINE bool is_anothers(const void *block, bool is_free) {
  if (is_free) return !own_blocks_has(block);
  own_blocks_add(block);
  return false;
}

// The fast path of counting in a forked child. It serves most blocks: those at an address where the child has allocated
// before.
INLINE bool count_in_child(const void *block, size_t usable, bool is_free) {
  struct mlrun_channel *channel = this_thread.channel;
  if (unlikely(*generation != control->state || !channel || usable >= MLRUN_FINE_LIMIT_BYTES)) return false;
  if (unlikely(!own_blocks_has_noted(block))) return false;
  struct mlrun_fine_count *fine = &channel->fine[mlrun_fine_class(usable)];
  count_local(is_free ? &fine->frees : &fine->allocs);
  return true;
}

__attribute__((noinline)) void count_slowly(const void *block, size_t usable, bool is_free) {
  if (!may_record() || stream_off) return;
  if (process.forked && is_anothers(block, is_free)) return;
  if (!this_thread.channel && !register_thread(is_free ? MLRUN_FREE : MLRUN_MALLOC)) return;
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

// Whether a block of --alloc-min bytes or more is sampled. Without sampling all of them are listed (get a record); with it
// the others are only counted.
static COLD bool picked(void *block, size_t size) {
  if (!sampler_picks(&this_thread.sampler, size, now_ticks() ^ (uint64_t)(uintptr_t)&this_thread)) return false;
  if (!sampled_blocks_add(block)) count_failure(MLRUN_FAIL_SAMPLES);
  return true;
}

INLINE bool is_listed(void *block, size_t size) { return likely(!sample_bytes) || picked(block, size); }
INLINE bool was_listed(void *block) { return likely(!sample_bytes) || sampled_blocks_remove(block); }

// At least 1: 0 in a record means not measured, and the counter of some processors moves in steps of 10 ns.
INLINE uint64_t ticks_since(uint64_t start) {
  uint64_t ticks = now_ticks() - start;
  return ticks ? ticks : 1;
}

// A record of three units: for a duration (start not 0), an alignment, or an excess that does not fit in two units.
static void put_long_allocation(struct allocation *a, uint64_t start, size_t alignment) {
  if (unlikely(!allocs_listed)) note_listed();
  uint64_t duration = start ? ticks_since(start) : 0;
  uint8_t lap;
  uint64_t *w = reserve_allocation(a, 48, &lap);
  if (!w) return;
  w[1] = start ? start : now_ticks();
  fill_allocation(w, a);
  w[4] = duration << 8;
  w[5] = alignment | fill_excess(w, a) << 48;
  publish(w, lap, 3, a->kind, (uint32_t)a->site);
}

// The fast path contains only tail calls, so that it saves no register: each slow half is a function that does all that
// is left to do. Recording is separate from counting for the same reason.
static COLD void *recorded_sometimes(uint32_t kind, void *block, size_t size, size_t usable, uint64_t site) {
  struct allocation a = {kind, block, size, usable, site};
  if (!allocs_listed) note_listed();
  if (!is_listed(block, size))
    count_block(block, usable, false);
  else if (has_large_excess(&a))
    put_long_allocation(&a, 0, 0);
  else
    put_allocation(&a);
  return block;
}

static COLD void *recorded_slowly(uint32_t kind, void *block, size_t size, size_t usable, uint64_t site,
                                  uint64_t cursor) {
  struct allocation a = {kind, block, size, usable, site};
  uint8_t lap;
  uint64_t *w = reserve_at(cursor, kShortBytes, a.kind, &lap);
  write_allocation(w, lap, &a);
  return block;
}

static __attribute__((noinline)) void *recorded(uint32_t kind, void *block, size_t size, size_t usable, uint64_t site) {
  if (unlikely(records_vary || stack_depth || usable - size > kShortExcessMax))
    return recorded_sometimes(kind, block, size, usable, site);
  uint64_t cursor = advance_cursor(kShortBytes);
  if (unlikely(!segment_has_room(cursor, kShortBytes) || !clock_is_tsc))
    return recorded_slowly(kind, block, size, usable, site, cursor);
  const struct allocation a = {kind, block, size, usable, site};
  uint8_t lap;
  uint64_t *w = record_at(cursor, &lap);
  write_allocation_at(w, lap, __rdtsc(), &a);
  return block;
}

INLINE struct allocation the_free_of(void *block, size_t usable, uint64_t site) {
  return (struct allocation){MLRUN_FREE, block, usable != SIZE_UNKNOWN ? usable : 0, usable, site};
}

// Writes the duration of a free that began at `start`, after the record of the free itself.
static void put_free_time(uint64_t start) {
  if (unlikely(*generation != control->state)) return;  // a child that a signal handler has just forked, or paused
  uint64_t duration = ticks_since(start);
  uint8_t lap;
  uint64_t *w = reserve(16, MLRUN_FREE_TIME, &lap);
  if (!w) return;
  w[1] = start;
  publish(w, lap, 1, MLRUN_FREE_TIME, mlrun_short_duration(duration));
}

static void timed_free(const struct allocation *a) {
  uint8_t lap;
  uint64_t *w = reserve(32, a->kind, &lap);
  uint64_t start = w ? now_ticks() : 0;
  if (w) write_allocation_at(w, lap, start, a);
  real_allocator.free(a->block);
  if (w) put_free_time(start);
}

static __attribute__((noinline)) void freed_variously(void *block, size_t usable, uint64_t site) {
  struct allocation a = the_free_of(block, usable, site);
  bool listed = was_listed(block);
  if (listed && !timed_bytes) {
    timed_free(&a);
    return;
  }
  if (listed)
    put_free(&a);
  else
    count_block(block, usable, true);
  real_allocator.free(block);
}

static COLD void freed_slowly(void *block, size_t usable, uint64_t site, uint64_t cursor) {
  struct allocation a = the_free_of(block, usable, site);
  uint8_t lap;
  uint64_t *w = reserve_at(cursor, kShortBytes, a.kind, &lap);
  write_allocation(w, lap, &a);
  real_allocator.free(block);
}

static __attribute__((noinline)) void recorded_free(void *block, size_t usable, uint64_t site) {
  if (unlikely(frees_vary)) {
    freed_variously(block, usable, site);
    return;
  }
  uint64_t cursor = advance_cursor(kShortBytes);
  if (unlikely(!segment_has_room(cursor, kShortBytes) || !clock_is_tsc)) {
    freed_slowly(block, usable, site, cursor);
    return;
  }
  const struct allocation a = the_free_of(block, usable, site);
  uint8_t lap;
  uint64_t *w = record_at(cursor, &lap);
  write_allocation_at(w, lap, __rdtsc(), &a);
  real_allocator.free(block);
}

static COLD void *counted_slowly(void *block, size_t usable) {
  count_slowly(block, usable, false);
  return block;
}

static __attribute__((noinline)) void *counted(void *block, size_t usable) {
  return likely(count_in_child(block, usable, false)) ? block : counted_slowly(block, usable);
}

static COLD void counted_free_slowly(void *block, size_t usable) {
  count_slowly(block, usable, true);
  real_allocator.free(block);
}

static __attribute__((noinline)) void counted_free(void *block, size_t usable) {
  if (likely(count_in_child(block, usable, true)))
    real_allocator.free(block);
  else
    counted_free_slowly(block, usable);
}

static __attribute__((noinline)) void *allocated_long(uint32_t kind, void *block, size_t size, uint64_t site,
                                                      uint64_t start, size_t alignment) {
  if (!block) return block;
  struct allocation a = {kind, block, size, usable_size_of(kind, block), site};
  if (a.usable < alloc_min_bytes || !is_listed(block, size))
    count_block(a.block, a.usable, false);
  else
    put_long_allocation(&a, start, alignment);
  return block;
}

INLINE void *listed_or_counted(uint32_t kind, void *block, size_t size, size_t usable, uint64_t site) {
  if (usable >= alloc_min_bytes) return recorded(kind, block, size, usable, site);
  return likely(count_quickly(usable, false)) ? block : counted(block, usable);
}

static COLD void *allocated_elsewhere(uint32_t kind, void *block, size_t size, uint64_t site) {
  return listed_or_counted(kind, block, size, usable_size(block), site);
}

INLINE void *allocated(uint32_t kind, void *block, size_t size, uint64_t site) {
  if (unlikely(!block)) return block;
  if (unlikely(!is_of_glibc(block))) return allocated_elsewhere(kind, block, size, site);
  return listed_or_counted(kind, block, size, glibc_usable_size(block), site);
}

static __attribute__((noinline)) void *timed_malloc(size_t size, uint64_t site) {
  uint64_t start = stamp();
  return allocated_long(MLRUN_MALLOC, real_allocator.malloc(size), size, site, start, 0);
}

static __attribute__((noinline)) void *timed_calloc(size_t count, size_t each, uint64_t site) {
  uint64_t start = stamp();
  return allocated_long(MLRUN_CALLOC, real_allocator.calloc(count, each), count * each, site, start, 0);
}

EXPORT void *malloc(size_t size) {
  if (unlikely(!hooks_on) && !start_hooks()) return real_allocator.malloc(size);
  if (unlikely(size >= timed_bytes)) return timed_malloc(size, SITE);
  void *block = real_allocator.malloc(size);
  return allocated(MLRUN_MALLOC, block, size, SITE);
}

EXPORT void *calloc(size_t count, size_t each) {
  if (unlikely(!hooks_on) && !start_hooks()) return real_allocator.calloc(count, each);
  size_t size = count * each;  // if this overflows, the real function fails
  if (unlikely(size >= timed_bytes)) return timed_calloc(count, each, SITE);
  void *block = real_allocator.calloc(count, each);
  return allocated(MLRUN_CALLOC, block, size, SITE);
}

INLINE void listed_or_counted_free(void *block, size_t usable, uint64_t site) {
  if (usable >= alloc_min_bytes)
    recorded_free(block, usable, site);
  else if (likely(count_quickly(usable, true)))
    real_allocator.free(block);
  else
    counted_free(block, usable);
}

// Frees a block of an allocator other than glibc's, or serves the very first call.
static COLD void released_elsewhere(void *block, uint64_t site) {
  if (likely(hooks_on) || start_hooks())
    listed_or_counted_free(block, usable_size(block), site);
  else
    real_allocator.free(block);
}

INLINE void released(void *block, uint64_t site) {
  if (unlikely(!block)) return;
  if (unlikely(!hooks_on || !is_of_glibc(block)))
    released_elsewhere(block, site);
  else
    listed_or_counted_free(block, glibc_usable_size(block), site);
}

EXPORT void free(void *block) { released(block, SITE); }

// Old (cfree) and new names of free. A libc that has them treats them as free.
void cfree(void *block);
void free_sized(void *block, size_t size);
void free_aligned_sized(void *block, size_t alignment, size_t size);

EXPORT void cfree(void *block) { released(block, SITE); }

// A free in front of ours gets the call, as it gets libc's.
static void released_by_size(void *block, uint64_t site) {
  if (unlikely(!hooks_on)) start_hooks();
  if (unlikely(real_allocator.free_in_front != NULL))
    real_allocator.free_in_front(block);
  else
    released(block, site);
}

EXPORT void free_sized(void *block, size_t size) {
  (void)size;
  released_by_size(block, SITE);
}

EXPORT void free_aligned_sized(void *block, size_t alignment, size_t size) {
  (void)alignment;
  (void)size;
  released_by_size(block, SITE);
}

// Records realloc(block, 0), which frees in most allocators. The record has the time before the block was released.
static void freed_by_realloc(void *block, size_t usable, uint64_t start, uint64_t site, bool listed) {
  if (!listed) {
    count_block(block, usable, true);
    return;
  }
  struct allocation a = {MLRUN_FREE, block, usable != SIZE_UNKNOWN ? usable : 0, usable, site};
  uint8_t lap;
  uint64_t *w = start ? reserve(32, MLRUN_FREE, &lap) : NULL;
  if (!w) return;
  w[1] = start;
  fill_allocation(w, &a);
  publish(w, lap, 2, a.kind, (uint32_t)site);
  if (!timed_bytes) put_free_time(start);
}

static void put_reallocation(struct allocation *a, void *old, size_t old_usable, uint64_t start) {
  if (unlikely(!allocs_listed)) note_listed();
  uint8_t lap;
  uint64_t duration = start ? ticks_since(start) : 0, *w = start ? reserve_allocation(a, 64, &lap) : NULL;
  if (!w) return;
  w[1] = start;
  fill_allocation(w, a);
  w[4] = (uint64_t)old << 5;
  w[5] = old_usable != SIZE_UNKNOWN ? old_usable : 0;
  w[6] = duration << 8;
  w[7] = fill_excess(w, a);
  publish(w, lap, 4, a->kind, (uint32_t)a->site);
}

// With sampling the old block's end and the new one's beginning are two events, each listed or counted separately.
static COLD void put_sampled_reallocation(struct allocation *a, void *old, size_t old_usable, uint64_t start,
                                          bool was_picked) {
  bool is_picked = a->usable >= alloc_min_bytes && picked(a->block, a->size);
  if (is_picked) {
    put_reallocation(a, was_picked ? old : NULL, was_picked ? old_usable : 0, start);
  } else {
    if (was_picked) freed_by_realloc(old, old_usable, start, a->site, true);
    count_block(a->block, a->usable, false);
  }
  if (old && !was_picked) count_block(old, old_usable, true);
}

// One record if the old or the new size is at least --alloc-min, else a free and an allocation are counted.
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
  if (old) count_block(old, old_usable, true);
  count_block(a.block, a.usable, false);
  return block;
}

EXPORT void *realloc(void *old, size_t size) {
  if (unlikely(!hooks_on) && !start_hooks()) return real_allocator.realloc(old, size);
  return resize(MLRUN_REALLOC, old, size, SITE);
}

// Calls the allocator's realloc, because libc's reallocarray would call the hooked one. One in front of ours gets the call, as it gets libc's.
EXPORT void *reallocarray(void *old, size_t count, size_t each) {
  size_t size;
  if (__builtin_mul_overflow(count, each, &size)) {
    errno = ENOMEM;
    return NULL;
  }
  bool records = likely(hooks_on) || start_hooks();
  if (unlikely(real_allocator.realloc_in_front != NULL)) return real_allocator.realloc_in_front(old, size);
  return likely(records) ? resize(MLRUN_REALLOCARRAY, old, size, SITE) : real_allocator.realloc(old, size);
}

static uint64_t start_if_timed(size_t size) { return size >= timed_bytes ? stamp() : 0; }

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
