// SPDX-License-Identifier: Apache-2.0
// The slow path of a reservation: once per segment, every few hundred to two thousand records.
//
// A signal handler may change the thread's segment, or jump out, at any point. A claimed segment is therefore kept in
// this_thread.spare_segment until it is installed, and installed by compare-and-swap on the cursor.
#include "preload/record/segments.h"

#include <emmintrin.h>

#include "preload/base/raw_syscall.h"
#include "preload/base/test_point.h"
#include "preload/record/channel.h"
#include "preload/record/dropped_kind.h"
#include "preload/record/process_record.h"

enum { kFutexWait = 0, kFutexWake = 1, kOwnerDied = 0x40000000 };
#define GIVE_UP_NS  5000000000ull
#define STALLED_NS  200000000ull   // a running collector needs a few milliseconds for an allocation step
#define HAND_OUT_NS 1000000000ull  // all steps, with hundreds of threads that leave the collector little CPU time

static void wake_collector(void) {
  if (!recording_system_calls_allowed() || __atomic_exchange_n(&control->woken, 1, __ATOMIC_ACQ_REL)) return;
  __atomic_add_fetch(&control->wake, 1, __ATOMIC_RELEASE);
  raw_syscall3(SYS_futex, (long)&control->wake, kFutexWake, 1);
}

static bool replace_owner(uint32_t segment, uint32_t old, uint32_t fresh) {
  return __atomic_compare_exchange_n(&process.owner[segment], &old, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void raise_segment_high(uint32_t to) {
  uint32_t *high = &control->segment_high, now = __atomic_load_n(high, __ATOMIC_RELAXED);
  while (now < to && !__atomic_compare_exchange_n(high, &now, to, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) continue;
}

// The lowest free segment: it is the warmest in the cache, and already in our page table.
uint64_t try_claim_segment(uint32_t owner) {
  uint32_t available = __atomic_load_n(&control->available_segments, __ATOMIC_ACQUIRE);
  uint32_t count = available < process.segment_count ? available : process.segment_count;
  if ((int32_t)control->free_segments_hint <= 0) return 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t word = __atomic_load_n(&process.owner[i], __ATOMIC_RELAXED);
    if ((word & MLRUN_OWNER_MASK) || !replace_owner(i, word, word | owner)) continue;
    if (i >= __atomic_load_n(&process.segment_count, __ATOMIC_SEQ_CST)) {  // unmapped meanwhile (address_space.c)
      replace_owner(i, word | owner, word);
      return 0;
    }
    int32_t left = (int32_t)__atomic_sub_fetch(&control->free_segments_hint, 1, __ATOMIC_RELAXED);
    raise_segment_high(i + 1);
    if (left * 2 < (int32_t)available) wake_collector();
    return (uint64_t)(word & ~MLRUN_OWNER_MASK) << 32 | (uint64_t)(i + 1) << 32;
  }
  return 0;
}

void give_back_segment(uint64_t claimed) {
  __atomic_store_n(&process.owner[claimed_segment(claimed)], claimed_lap(claimed) << 24, __ATOMIC_RELEASE);
  __atomic_add_fetch(&control->free_segments_hint, 1, __ATOMIC_RELAXED);
}

static void sleep_until_space(uint32_t space) {
  struct timespec ten_ms = {0, 10000000};
  __atomic_add_fetch(&control->waiters, 1, __ATOMIC_ACQ_REL);
  if (recording_system_calls_allowed())
    raw_syscall4(SYS_futex, (long)&control->space, kFutexWait, space, (long)&ten_ms);
  else
    for (int i = 0; i < 1000; i++) _mm_pause();
  __atomic_sub_fetch(&control->waiters, 1, __ATOMIC_ACQ_REL);
}

void begin_attempt(struct patience *patience) {
  uint32_t space = __atomic_load_n(&control->space, __ATOMIC_ACQUIRE);
  if (space != patience->space) patience->since_ns = 0;
  patience->space = space;
}

// Whether the collector will make more segments available: it allocates the arena in steps, ahead of need, but a burst of
// threads may be faster.
static bool more_to_come(void) {
  uint32_t available = __atomic_load_n(&control->available_segments, __ATOMIC_ACQUIRE);
  return available < process.segment_count && !__atomic_load_n(&control->arena_ended, __ATOMIC_RELAXED);
}

// Total time in which at least one thread of this process has waited for a step of the collector, and when the latest
// such wait ended. A forked child inherits both.
static uint64_t hand_out_waited_ns, hand_out_until_ns;

static bool may_wait_for_hand_out(void) {
  return recording_system_calls_allowed() && more_to_come() &&
         __atomic_load_n(&hand_out_waited_ns, __ATOMIC_RELAXED) < HAND_OUT_NS;
}

static void add_hand_out_wait(uint64_t from_ns, uint64_t to_ns) {
  uint64_t *until = &hand_out_until_ns, before = __atomic_load_n(until, __ATOMIC_RELAXED);
  while (before < to_ns &&
         !__atomic_compare_exchange_n(until, &before, to_ns, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    continue;
  if (before >= to_ns) return;
  __atomic_add_fetch(&hand_out_waited_ns, to_ns - (before > from_ns ? before : from_ns), __ATOMIC_RELAXED);
}

COLD bool wait_for_segment(struct patience *patience) {
  if (!control->lossless && !may_wait_for_hand_out()) return false;
  uint64_t now_ns = monotonic_ns();
  if (!patience->since_ns) patience->since_ns = now_ns;
  bool given_up = __atomic_load_n(&control->gave_up, __ATOMIC_RELAXED) == patience->space + 1;
  bool collector_died = __atomic_load_n(&control->collector_lock[0], __ATOMIC_ACQUIRE) & kOwnerDied;
  bool too_long = now_ns - patience->since_ns > (control->lossless ? GIVE_UP_NS : STALLED_NS);
  if (given_up || collector_died || too_long) {
    __atomic_store_n(&control->gave_up, patience->space + 1, __ATOMIC_RELAXED);
    return false;
  }
  wake_collector();
  sleep_until_space(patience->space);
  if (!control->lossless) add_hand_out_wait(now_ns, monotonic_ns());
  return true;
}

static uint64_t claim_segment(uint32_t owner) {
  struct patience patience = {0};
  for (;;) {
    begin_attempt(&patience);
    uint64_t claimed = try_claim_segment(owner);
    if (claimed || !wait_for_segment(&patience)) return claimed;
  }
}

static void write_header(uint64_t cursor) {
  struct mlrun_segment *header = (struct mlrun_segment *)segment_start((uint32_t)(cursor >> 32) & MLRUN_OWNER_MASK);
  uint64_t now_ns = monotonic_ns();
  _mm_store_si128((__m128i *)header, _mm_set_epi64x((long long)now_ns, (long long)now_ticks()));
  header->channel = this_thread.channel_id;
  header->lap = (uint32_t)(cursor >> 56);
}

// Ensures that this_thread.spare_segment holds a segment. Returns it; 0: none is free.
static uint64_t fill_spare(void) {
  uint64_t claimed = claim_segment(this_thread.channel_id + 1);
  if (!claimed) return 0;
  test_point(4);
  if (replace_local(&this_thread.spare_segment, 0, claimed)) return claimed;
  give_back_segment(claimed);  // a handler has left one
  return this_thread.spare_segment;
}

// Moves the thread from the segment of the cursor `from` to a fresh one, for a record of that kind. False: none is
// free.
static COLD bool change_segment(uint64_t from, uint32_t kind) {
  if (!this_thread.channel && !register_thread(kind)) return false;
  for (;;) {
    uint64_t now = this_thread.cursor, spare = this_thread.spare_segment;
    if (now >> 32 != from >> 32) return true;       // a handler has done it
    if (spare && now >> 32 == (spare >> 32) - 1) {  // it jumped out right after installing the spare
      replace_local(&this_thread.spare_segment, spare, 0);
      continue;
    }
    if (!spare && !(spare = fill_spare())) {
      replace_local(&this_thread.cursor, now, NO_SEGMENT);  // else its offset would advance into the next segment
      return false;
    }
    uint64_t fresh = spare - (1ull << 32);
    test_point(5);
    write_header(fresh);
    test_point(6);
    if (!replace_local(&this_thread.cursor, now, fresh | MLRUN_SEGMENT_HEADER_BYTES)) continue;
    test_point(7);
    replace_local(&this_thread.spare_segment, spare, 0);
    return true;
  }
}

static void pad_to_the_end(uint64_t cursor) {
  char *segment = segment_start((uint32_t)(cursor >> 32) & MLRUN_OWNER_MASK);
  publish((uint64_t *)(segment + (uint32_t)cursor), (uint8_t)(cursor >> 56), 0, MLRUN_PAD, 0);
}

// Counts a dropped record. If the thread has no channel, register_thread has counted it already.
static void count_drop(uint32_t kind) {
  enum mlrun_drop reason = control->lossless || more_to_come() ? MLRUN_DROP_GAVE_UP : MLRUN_DROP_FULL;
  if (this_thread.channel) count_local(&this_thread.channel->drops[reason][dropped_kind(kind)]);
}

COLD uint64_t reserve_slow(uint64_t cursor, uint32_t bytes, uint32_t kind) {
  for (;;) {
    test_point(13);
    if ((uint32_t)cursor < MLRUN_SEGMENT_BYTES) pad_to_the_end(cursor);
    test_point(8);
    if (!may_record()) return 0;
    if (!change_segment(cursor, kind)) {
      count_drop(kind);
      return 0;
    }
    if (!process.wiped->announced) process_record_write();
    cursor = fetch_add_local(&this_thread.cursor, bytes);
    test_point(9);
    if ((uint32_t)cursor <= MLRUN_SEGMENT_BYTES - bytes) return cursor;
  }
}
