// SPDX-License-Identifier: Apache-2.0
#include "preload/calls/wait_call.h"

#include <errno.h>
#include <pthread.h>
#include <threads.h>

#include "preload/base/real_function.h"
#include "preload/calls/capture.h"

COLD void put_wait(struct pending_call *call, uint64_t end, int64_t result) {
  call->open_file = open_file_of(call->fd);
  put_call(call, end, result, 0);
}

COLD int error_of_thread(int result) {
  switch (result) {
    case thrd_success: return 0;
    case thrd_busy: return EBUSY;
    case thrd_nomem: return ENOMEM;
    case thrd_timedout: return ETIMEDOUT;
    case -1: return EINTR;  // thrd_sleep, which leaves errno alone
    default: return EINVAL;
  }
}

// One of the threads gets -1, which is no error.
EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier) {
  REAL(int, pthread_barrier_wait, pthread_barrier_t *);
  struct pending_call call CALL_CLEANUP = {
      .kind = KIND_pthread_barrier_wait, .fd = -1, .offset = MLRUN_NO_OFFSET, .arg2 = (uintptr_t)barrier};
  begin_plain_call(&call);
  int result = real(barrier);
  end_error_wait(&call, result == PTHREAD_BARRIER_SERIAL_THREAD ? 0 : result);
  return result;
}
