// SPDX-License-Identifier: Apache-2.0
// Waits: calls that begin like any other (begin_plain_call) and are recorded only from control->wait_min_ticks on. A wait
// that returns at once costs two time stamps.
#pragma once

#include <poll.h>
#include <pthread.h>

#include "preload/calls/traced_call.h"
#include "preload/record/posts.h"

#pragma GCC visibility push(hidden)

// result: as recorded. A descriptor without an identity is identified now.
void put_wait(struct pending_call *call, uint64_t end, int64_t result);

// The same for a wait on an object that threads post on (posts.h): the record has the poster if there is one.
void put_counted_wait(struct pending_call *call, uint64_t end, int64_t result);

// The same for poll and ppoll: if the set has one descriptor, the record has its number and file.
void put_poll(struct pending_call *call, uint64_t end, int64_t result, const struct pollfd *set, nfds_t count);

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

INLINE void end_poll(struct pending_call *call, const struct pollfd *set, nfds_t count, int64_t result) {
  compiler_barrier();
  if (unlikely(!call->start)) return;
  uint64_t end = now_ticks();
  if (likely(end - call->start < control->wait_min_ticks)) return;
  put_poll(call, end, result == -1 ? -(int64_t)errno : result, set, count);
}

// Waits on the object at arg2. Requires: the form is kCallCountsWaiter.
INLINE void begin_counted_wait(struct pending_call *call) {
  begin_plain_call(call);
  if (likely(call->start)) count_waiter((uintptr_t)call->arg2);
}

// result: as recorded.
INLINE void end_counted_wait(struct pending_call *call, int64_t result) {
  compiler_barrier();
  if (unlikely(!call->start)) return;
  uint64_t end = now_ticks();
  uncount_waiter((uintptr_t)call->arg2);
  if (unlikely(end - call->start >= control->wait_min_ticks)) put_counted_wait(call, end, result);
}

// Begins a join: the record has the tid of the joined thread.
void begin_join(struct pending_call *call, pthread_t thread);

#pragma GCC visibility pop
