// SPDX-License-Identifier: Apache-2.0
// The hot path: how a hook writes a record.
//
//   uint64_t start = stamp();                 0: nothing of this call is recorded
//   ... the real call ...
//   uint64_t *w = reserve(64, kind, &lap);    null: dropped, and counted as that kind if needed
//   w[1] = start; w[2] = ...                  all words but the first
//   publish(w, lap, units, kind, arg);        the first word, last
//
// After load this needs no system call, takes no lock, blocks no signal and allocates nothing; it may be used in signal
// handlers and in forked children. errno is left alone.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <x86intrin.h>

#include "preload/base/compiler.h"
#include "preload/base/test_point.h"
#include "preload/core/call_kind.h"
#include "preload/core/confinement.h"
#include "preload/core/thread_state.h"
#include "runner/events/arena.h"
#include "runner/events/record.h"

#pragma GCC visibility push(hidden)

// Until the arena is mapped `control` is a page of our own in state STOP and *generation is 0, so that the single
// compare below fails. Afterwards *generation is MLRUN_RUN in a page that the kernel wipes in every forked child.
extern struct mlrun_control *control;
extern uint32_t *generation;
extern char *segments;  // segment 0 of the arena
extern bool clock_is_tsc;
extern bool files_on;  // calls on files are recorded

// False after the program has confined itself: then the recorder makes no system call, not even a futex.
INLINE bool recording_system_calls_allowed(void) { return !is_confined(); }

uint64_t monotonic_ns(void);
uint64_t stamp_slow(void);
// `cursor`: what the reservation returned; `kind`: of the record. Returns the cursor of `bytes` reserved bytes, 0:
// dropped.
uint64_t reserve_slow(uint64_t cursor, uint32_t bytes, uint32_t kind);

INLINE uint64_t now_ticks(void) { return likely(clock_is_tsc) ? __rdtsc() : monotonic_ns(); }

// The clock, or 0 if this call is not recorded: not attached, paused, stopped, in a vfork child. Must be called before
// the real call, and before everything else in this file: after SECCOMP_MODE_STRICT reading the clock kills.
INLINE uint64_t stamp(void) {
  if (unlikely(*generation != control->state) || unlikely(in_vfork_child())) return stamp_slow();
  return now_ticks();
}

// The three parts of reserve(), for hooks whose slow half is a separate function. First the thread's cursor, advanced,
// or one without room if the thread cannot record right now.
INLINE uint64_t advance_cursor(uint32_t bytes) {
  if (unlikely(*generation != control->state)) return NO_SEGMENT;
  uint64_t cursor = fetch_add_local(&this_thread.cursor, bytes);
  test_point(10);
  return cursor;
}

INLINE bool segment_has_room(uint64_t cursor, uint32_t bytes) {
  return (uint32_t)cursor <= MLRUN_SEGMENT_BYTES - bytes;
}

INLINE uint64_t *record_at(uint64_t cursor, uint8_t *lap) {
  *lap = (uint8_t)(cursor >> 56);
  test_point(11);
  return (uint64_t *)(segments + (cursor >> 16 & 0xffffff0000ull) + (uint32_t)cursor);
}

// The rest of reserve(), given the cursor that advance_cursor() returned.
INLINE uint64_t *reserve_at(uint64_t cursor, uint32_t bytes, uint32_t kind, uint8_t *lap) {
  if (unlikely(!segment_has_room(cursor, bytes))) {
    cursor = reserve_slow(cursor, bytes, kind);
    if (!cursor) return 0;
  }
  return record_at(cursor, lap);
}

// Reserves `bytes` (a multiple of 16, at most 16 KiB) for one record, or for several that belong together. Every
// 16-byte unit must be written, with a tag byte of 0 in all but the first word of a record. `kind` is that of the main
// record; only a drop uses it.
INLINE uint64_t *reserve(uint32_t bytes, uint32_t kind, uint8_t *lap) {
  return reserve_at(advance_cursor(bytes), bytes, kind, lap);
}

// Makes the record at `record` visible. From here on it survives the end of the process.
INLINE void publish(uint64_t *record, uint8_t lap, uint32_t units, uint32_t kind, uint32_t arg) {
  test_point(12);
  compiler_barrier();
  *(volatile uint64_t *)record = mlrun_word0(lap, units, kind, arg);
}

// Increments a counter of the control page (enum mlrun_failure).
void count_failure(enum mlrun_failure failure);

#pragma GCC visibility pop
