// SPDX-License-Identifier: Apache-2.0
// Start and end of processes and threads. A forked child detects the fork at its first event, by the wiped page; a
// thread gets its channel at its first event; the collector detects the end of either. So nothing is registered here:
// these hooks only record which parent made which child, and write the end record if a process still can.
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>
#include <unistd.h>

#include "preload/base/old_version.h"
#include "preload/base/real_function.h"
#include "preload/calls/dirty_streams.h"
#include "preload/calls/process_call.h"
#include "preload/calls/traced_call.h"
#include "preload/calls/wait_call.h"
#include "preload/core/program_memory.h"
#include "preload/core/recorder.h"
#include "preload/record/library_record.h"
#include "preload/record/process_record.h"
#include "preload/record/robust_list.h"

void put_process_call(enum call_kind kind, uint64_t start, int64_t result) {
  if (!start) return;
  struct pending_call call = {.start = start, .offset = MLRUN_NO_OFFSET, .fd = -1, .kind = (uint16_t)kind};
  put_call(&call, now_ticks(), result, 0);
}

// The new thread may have ended already, and the caller's pthread_t may have been freed: then the record has no tid.
static void put_thread_call(uint64_t start, int error, const pthread_t *thread) {
  if (!start) return;
  uint64_t end = now_ticks();
  pthread_t handle;
  bool is_there = !error && read_from_program(&handle, thread, sizeof handle, false);
  uint32_t tid = is_there ? thread_number_if_there((uintptr_t)handle) : 0;
  struct pending_call call = {
      .start = start, .offset = MLRUN_NO_OFFSET, .arg2 = tid, .fd = -1, .kind = KIND_pthread_create};
  put_call(&call, end, -(int64_t)error, 0);
}

EXPORT pid_t fork(void) {
  REAL(pid_t, fork, void);
  uint64_t start = stamp();
  pid_t child = real();
  if (child != 0) put_process_call(KIND_fork, start, child < 0 ? -errno : child);
  return child;
}
EXPORT pid_t __fork(void) __attribute__((nothrow, alias("fork")));

pid_t _Fork(void);
EXPORT pid_t _Fork(void) {
  REAL(pid_t, _Fork, void);
  if (unlikely(!real)) return (pid_t)missing_function();
  uint64_t start = stamp();
  pid_t child = real();
  if (child != 0) put_process_call(KIND_fork, start, child < 0 ? -errno : child);
  return child;
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start_routine)(void *),
                          void *argument) {
  REAL(int, pthread_create, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (unlikely(!real)) return EAGAIN;  // before 2.34 it is in a library that need not be there
  uint64_t start = stamp();
  int error = real(thread, attributes, start_routine, argument);
  put_thread_call(start, error, thread);
  return error;
}

// libc makes the thread by pthread_create's internals, past the hook above.
EXPORT int thrd_create(thrd_t *thread, thrd_start_t start_routine, void *argument) {
  REAL(int, thrd_create, thrd_t *, thrd_start_t, void *);
  if (unlikely(!real)) return thrd_error;
  uint64_t start = stamp();
  int result = real(thread, start_routine, argument);
  // thrd_error does not tell causes apart; the usual one is that the limit of threads is reached.
  put_thread_call(start, result == thrd_error ? EAGAIN : error_of_thread(result), thread);
  return result;
}

EXPORT void _exit(int status) {
  REAL(void, _exit, int);
  process_end_write(status);
  real(status);
  __builtin_unreachable();
}
EXPORT void _Exit(int status) __attribute__((alias("_exit")));

// No end record: the parent's wait returns the signal that ended the process.
EXPORT void abort(void) {
  REAL(void, abort, void);
  if (recording_system_calls_allowed()) libraries_write();
  real();
  __builtin_unreachable();
}

EXPORT void quick_exit(int status) {
  REAL(void, quick_exit, int);
  process_end_write(status);
  real(status);
  __builtin_unreachable();
}

// Before glibc 2.24 quick_exit destroyed thread-local objects.
OLD_VERSION(void, quick_exit, "GLIBC_2.10", (int status)) {
  REAL_OLD(void, quick_exit, "GLIBC_2.10", int);
  process_end_write(status);
  real(status);
  __builtin_unreachable();
}

// Runs at exit() and the return from main, after the program's exit handlers. Bytes that libc flushes afterwards are
// recorded here in advance; the counters in the end record lack them.
static __attribute__((destructor)) void unload(void) {
  record_flush_at_exit();
  process_end_write(0);
}
