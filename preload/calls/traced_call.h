// SPDX-License-Identifier: Apache-2.0
// A hooked call from guard to record:
//
//   struct pending_call call CALL_CLEANUP = {.kind = ..., .fd = ..., ...};
//   begin_call(&call);
//   result = the real call;
//   end_call(&call, result);
//
// The record code never encloses the real call. In a cancellation point the thread may be unwound out of the call: the
// cleanup attribute gives the wrapper's frame our personality routine (cancellation.c), which passes the pending call
// to record_cancelled_call and lets the unwinding continue. errno is read, never written.
#pragma once

#include <errno.h>

#include "preload/core/recorder.h"
#include "preload/files/fd_table.h"
#include "preload/files/path_rules.h"
#include "preload/record/stack_record.h"

#pragma GCC visibility push(hidden)

// What to do if a pending call is cancelled: which struct contains it, or that it is a counted waiter to be uncounted.
enum call_form { kCallOnFd, kCallOnPath, kCallOnStream, kCallCountsWaiter };

// A hooked call in progress. It is in the wrapper's stack frame, and this_thread.pending points to it while the real call
// runs.
struct pending_call {
  struct pending_call *outer;        // the call that a signal handler interrupted, or null
  uint64_t start;                    // stamp(); 0: not recorded
  uint64_t requested, offset, arg2;  // words 3, 5 and 7 of the record
  int32_t fd;                        // arg of the record
  uint32_t open_file;                // number of the open file behind fd, 0: unknown
  uint16_t kind;                     // enum call_kind
  uint8_t form;                      // enum call_form
  uint8_t flags;                     // enum mlrun_call_flag: the mechanism of the call
};

// The personality routine calls this for our frames: records this_thread.pending as cancelled and unlinks it.
void record_cancelled_call(struct pending_call *call);

INLINE void leave_call(struct pending_call *call) { this_thread.pending = call->outer; }
#define CALL_CLEANUP __attribute__((cleanup(leave_call)))

// The time, or 0: the call is not recorded. If calls on files are not recorded at all, this costs one comparison.
INLINE uint64_t file_stamp(void) { return likely(files_on) ? stamp() : 0; }

INLINE void link_call(struct pending_call *call) {
  *(struct pending_call *volatile *)&this_thread.pending = call;
  compiler_barrier();
}

// Stamps and links the call. A descriptor without an identity is identified before the clock is read.
INLINE void begin_call(struct pending_call *call) {
  call->outer = this_thread.pending;
  call->start = file_stamp();
  if (unlikely(!call->start)) return;
  call->open_file = known_open_file(call->fd);
  if (unlikely(!call->open_file && call->fd >= 0)) {
    call->open_file = identify_open_file(call->fd);
    call->start = now_ticks();
  }
  link_call(call);
}

// The first four units of a call's record.
INLINE void write_call(uint64_t *w, const struct pending_call *call, uint64_t end, int64_t result, uint64_t flags) {
  w[1] = call->start;
  w[2] = (end - call->start) << 8;
  w[3] = call->requested;
  w[4] = (uint64_t)result << 8;
  w[5] = call->offset;
  w[6] = (uint64_t)call->open_file << 8 | (flags | call->flags) << 40 | mlrun_result_top(result);
  w[7] = call->arg2;
}

// put_call with the stack that led to the call.
void put_call_at_stack(const struct pending_call *call, uint64_t end, int64_t result, uint64_t flags);

// result: bytes or another result of the call, or -errno.
INLINE void put_call(const struct pending_call *call, uint64_t end, int64_t result, uint64_t flags) {
  if (unlikely(call->open_file == OPEN_FILE_LEFT_OUT)) {
    count_left_out(call->kind, end - call->start, result);
    return;
  }
  if (unlikely(stack_depth)) {
    put_call_at_stack(call, end, result, flags);
    return;
  }
  uint8_t lap;
  uint64_t *w = reserve(64, call->kind, &lap);
  if (unlikely(!w)) return;
  write_call(w, call, end, result, flags);
  publish(w, lap, 4, call->kind, (uint32_t)call->fd);
}

// The record of a call with a fifth unit, with the stack if stacks are recorded. Requires: the file is not left out.
void put_wide_call(const struct pending_call *call, uint64_t end, int64_t result, uint64_t w8, uint64_t w9);

// result: what the real call returned, -1 on failure.
INLINE void end_call(const struct pending_call *call, int64_t result) {
  compiler_barrier();
  if (unlikely(!call->start)) return;
  put_call(call, now_ticks(), unlikely(result == -1) ? -(int64_t)errno : result, 0);
}

// The same for a function that returns 0 or an error number.
INLINE void end_error_call(const struct pending_call *call, int error) {
  compiler_barrier();
  if (unlikely(!call->start)) return;
  put_call(call, now_ticks(), -(int64_t)error, 0);
}

// Stamps and links a call whose descriptor, if any, need not be identified yet.
INLINE void begin_plain_call(struct pending_call *call) {
  call->outer = this_thread.pending;
  call->start = file_stamp();
  if (likely(call->start)) link_call(call);
}

#pragma GCC visibility pop
