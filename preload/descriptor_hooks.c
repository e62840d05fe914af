// SPDX-License-Identifier: Apache-2.0
// Calls that make descriptors out of descriptors, or close many: the table of open files follows them.
#include <unistd.h>

#include "preload/capture.h"
#include "preload/real_function.h"
#include "preload/traced_call.h"

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4u
#endif

// Both descriptors of a dup name one open file. call: begun on the old one; the record names the new one.
static void end_dup(struct pending_call *call, int old, int fresh, int result) {
  if (result >= 0 && result != old) fd_set_open_file(result, call->start ? call->open_file : known_open_file(old));
  call->fd = result >= 0 ? result : fresh;
  end_call(call, result);
}

EXPORT int dup(int fd) {
  REAL(int, dup, int);
  struct pending_call call CALL_CLEANUP = {
      .kind = KIND_dup, .fd = fd, .requested = (uint32_t)fd, .offset = MLRUN_NO_OFFSET};
  begin_call(&call);
  int result = real(fd);
  end_dup(&call, fd, -1, result);
  return result;
}

static int traced_dup2(int (*real)(int, int), int fd, int fresh) {
  struct pending_call call CALL_CLEANUP = {
      .kind = KIND_dup2, .fd = fd, .requested = (uint32_t)fd, .offset = MLRUN_NO_OFFSET};
  begin_call(&call);
  int result = real(fd, fresh);
  end_dup(&call, fd, fresh, result);
  return result;
}

EXPORT int dup2(int fd, int fresh) {
  REAL(int, dup2, int, int);
  return traced_dup2(real, fd, fresh);
}

int __dup2(int fd, int fresh);
EXPORT int __dup2(int fd, int fresh) {
  REAL(int, __dup2, int, int);
  return traced_dup2(real, fd, fresh);
}

EXPORT int dup3(int fd, int fresh, int flags) {
  REAL(int, dup3, int, int, int);
  struct pending_call call CALL_CLEANUP = {
      .kind = KIND_dup3, .fd = fd, .requested = (uint32_t)fd, .offset = MLRUN_NO_OFFSET, .arg2 = (uint32_t)flags};
  begin_call(&call);
  int result = real(fd, fresh, flags);
  end_dup(&call, fd, fresh, result);
  return result;
}

// The two ends are identified at their first use: until then nothing has to be said about them.
static void end_pipe(struct pending_call *call, const int fds[2], int flags, int result) {
  if (result == 0) {
    fd_set_open_file(fds[0], 0);
    fd_set_open_file(fds[1], 0);
    call->fd = fds[0];
    call->arg2 = PAIR(fds[1], flags);
  }
  end_call(call, result);
}

static int traced_pipe(int (*real)(int[2]), int fds[2]) {
  struct pending_call call CALL_CLEANUP = {.kind = KIND_pipe, .fd = -1, .offset = MLRUN_NO_OFFSET};
  begin_call(&call);
  int result = real(fds);
  end_pipe(&call, fds, 0, result);
  return result;
}

EXPORT int pipe(int fds[2]) {
  REAL(int, pipe, int[2]);
  return traced_pipe(real, fds);
}

int __pipe(int fds[2]);
EXPORT int __pipe(int fds[2]) {
  REAL(int, __pipe, int[2]);
  return traced_pipe(real, fds);
}

EXPORT int pipe2(int fds[2], int flags) {
  REAL(int, pipe2, int[2], int);
  struct pending_call call CALL_CLEANUP = {.kind = KIND_pipe2, .fd = -1, .offset = MLRUN_NO_OFFSET};
  begin_call(&call);
  int result = real(fds, flags);
  end_pipe(&call, fds, flags, result);
  return result;
}

// Begins a call on a range: the record's descriptor is the first one, which need not be open.
static struct pending_call range_call(uint32_t kind, unsigned first, unsigned last, int flags) {
  return (struct pending_call){.kind = (uint16_t)kind,
                               .fd = (int)first,
                               .requested = last,
                               .offset = MLRUN_NO_OFFSET,
                               .arg2 = (uint32_t)flags,
                               .outer = this_thread.pending,
                               .start = file_stamp()};
}

EXPORT int close_range(unsigned first, unsigned last, int flags) {
  REAL(int, close_range, unsigned, unsigned, int);
  if (unlikely(!real)) return (int)missing_function();
  struct pending_call call CALL_CLEANUP = range_call(KIND_close_range, first, last, flags);
  if (!((unsigned)flags & CLOSE_RANGE_CLOEXEC)) fd_forget_range(first, last);
  int result = real(first, last, flags);
  end_call(&call, result);
  return result;
}

EXPORT void closefrom(int first) {
  REAL(void, closefrom, int);
  if (unlikely(!real)) {
    missing_function();
    return;
  }
  unsigned lowest = first > 0 ? (unsigned)first : 0;
  struct pending_call call CALL_CLEANUP = range_call(KIND_closefrom, lowest, UINT32_MAX, 0);
  fd_forget_range(lowest, UINT32_MAX);
  real(first);
  end_call(&call, 0);
}
