// SPDX-License-Identifier: Apache-2.0
// Waits: a call that begins like any other (begin_plain_call) and is recorded only if it took long enough. One that
// returns at once costs two time stamps.
#pragma once

#include "preload/calls/traced_call.h"

#pragma GCC visibility push(hidden)

// result: as recorded. A descriptor without an identity is identified now.
void put_wait(struct pending_call *call, uint64_t end, int64_t result);

// The error that a result of a <threads.h> function means; 0: success.
int error_of_thread(int result);

// result: what the real call returned, -1 on failure.
INLINE void end_wait(struct pending_call *call, int64_t result) {
  compiler_barrier();
  if (unlikely(!call->start)) return;
  uint64_t end = now_ticks();
  if (likely(end - call->start < control->wait_min_ticks)) return;
  put_wait(call, end, result == -1 ? -(int64_t)errno : result);
}

// The same for a function that returns 0 or an error number.
INLINE void end_error_wait(struct pending_call *call, int error) {
  compiler_barrier();
  if (unlikely(!call->start)) return;
  uint64_t end = now_ticks();
  if (likely(end - call->start < control->wait_min_ticks)) return;
  put_wait(call, end, -(int64_t)error);
}

#pragma GCC visibility pop
