// SPDX-License-Identifier: Apache-2.0
#include "preload/calls/wait_call.h"

#include <errno.h>
#include <pthread.h>
#include <threads.h>

#include "preload/base/real_function.h"
#include "preload/calls/capture.h"
#include "preload/core/program_memory.h"
#include "preload/record/robust_list.h"

// Where glibc keeps whether an object is shared between processes: in a semaphore the field `private` of struct new_sem
// (0: not shared), in a condition the lowest bit of __wrefs.
enum { kSemaphoreWord = 8, kConditionWord = 36, kConditionIsShared = 1 };

// Whether only threads of this process post on the object that the call waits for. Posts of other processes are not seen,
// so the poster of a shared object would be a guess. A futex does not show whether it is shared, and counts as unshared.
static bool is_within_process(const struct pending_call *call) {
  bool is_semaphore =
      call->kind == KIND_sem_wait || call->kind == KIND_sem_timedwait || call->kind == KIND_sem_clockwait;
  uintptr_t address = (uintptr_t)call->arg2;
  if (call->kind == KIND_futex || is_known_within_process(address)) return true;
  uint32_t word;
  const char *at = (const char *)address + (is_semaphore ? kSemaphoreWord : kConditionWord);
  if (!read_from_program(&word, at, sizeof word, false)) return false;
  bool within = is_semaphore ? word == 0 : !(word & kConditionIsShared);
  if (within) note_within_process(address);
  return within;
}

COLD void put_counted_wait(struct pending_call *call, uint64_t end, int64_t result) {
  uint32_t poster = result == 0 ? poster_of((uintptr_t)call->arg2, call->start, end) : 0;
  if (poster && is_within_process(call)) call->offset = poster;
  put_call(call, end, result, 0);
}

COLD void put_poll(struct pending_call *call, uint64_t end, int64_t result, const struct pollfd *set, nfds_t count) {
  struct pollfd one;
  if (count == 1 && read_from_program(&one, set, sizeof one, false) && one.fd >= 0) {
    call->fd = one.fd;
    call->open_file = open_file_of(one.fd);
    if (call->open_file == OPEN_FILE_LEFT_OUT)
      call->open_file = 0;  // path rules exclude calls, not waits: record it without its file
  }
  put_call(call, end, result, 0);
}

// Reads the tid before the join, while the thread's memory still exists (if it is joinable at all).
COLD void begin_join(struct pending_call *call, pthread_t thread) {
  begin_plain_call(call);
  if (unlikely(!call->start)) return;
  uint32_t tid = thread_number_if_there((uintptr_t)thread);
  if (tid) call->offset = tid;
  call->start = now_ticks();
}

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

// One of the waiting threads gets -1 (PTHREAD_BARRIER_SERIAL_THREAD), which is no error.
EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier) {
  REAL(int, pthread_barrier_wait, pthread_barrier_t *);
  struct pending_call call CALL_CLEANUP = {
      .kind = KIND_pthread_barrier_wait, .fd = -1, .offset = MLRUN_NO_OFFSET, .arg2 = (uintptr_t)barrier};
  begin_plain_call(&call);
  int result = real(barrier);
  end_error_wait(&call, result == PTHREAD_BARRIER_SERIAL_THREAD ? 0 : result);
  return result;
}
