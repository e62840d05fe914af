// SPDX-License-Identifier: Apache-2.0
// Calls on many descriptors, and functions of libc that make calls on descriptors inside (eventfd_read and eventfd_write,
// pseudoterminals, daemon).
#include <pty.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utmp.h>

#include "preload/base/real_function.h"
#include "preload/calls/capture.h"
#include "preload/calls/descriptor_call.h"
#include "preload/calls/process_call.h"
#include "preload/calls/working_directory.h"

EXPORT void closefrom(int first) {
  REAL(void, closefrom, int);
  if (unlikely(!real)) {
    missing_function();
    return;
  }
  unsigned lowest = first > 0 ? (unsigned)first : 0;
  struct pending_call call CALL_CLEANUP = {
      .kind = KIND_closefrom, .fd = (int)lowest, .requested = UINT32_MAX, .offset = MLRUN_NO_OFFSET};
  begin_plain_call(&call);
  fd_forget_range(lowest, UINT32_MAX);
  real(first);
  end_call(&call, 0);
}

EXPORT int eventfd_read(int fd, eventfd_t *value) {
  REAL(int, eventfd_read, int, eventfd_t *);
  struct pending_call call CALL_CLEANUP = {.kind = KIND_read, .fd = fd, IO_WORDS(sizeof *value)};
  begin_call(&call);
  int result = real(fd, value);
  end_call(&call, result == 0 ? (int64_t)sizeof *value : result);
  return result;
}

EXPORT int eventfd_write(int fd, eventfd_t value) {
  REAL(int, eventfd_write, int, eventfd_t);
  struct pending_call call CALL_CLEANUP = {.kind = KIND_write, .fd = fd, IO_WORDS(sizeof value)};
  begin_call(&call);
  int result = real(fd, value);
  end_call(&call, result == 0 ? (int64_t)sizeof value : result);
  return result;
}

EXPORT int openpty(int *master, int *slave, char *name, const struct termios *modes, const struct winsize *size) {
  REAL(int, openpty, int *, int *, char *, const struct termios *, const struct winsize *);
  struct pending_call call CALL_CLEANUP = {.kind = KIND_openpty, .fd = -1, .offset = MLRUN_NO_OFFSET};
  begin_plain_call(&call);
  int result = real(master, slave, name, modes, size);
  int fds[2] = {result == 0 ? *master : -1, result == 0 ? *slave : -1};
  end_pairing_call(&call, fds, 0, result);
  return result;
}

// The terminal becomes descriptors 0 to 2, and `fd` is closed if it is none of these.
EXPORT int login_tty(int fd) {
  REAL(int, login_tty, int);
  uint32_t open_file = known_open_file(fd);
  int result = real(fd);
  for (int copy = 0; result == 0 && copy <= STDERR_FILENO; copy++) fd_set_open_file(copy, open_file);
  if (result == 0 && fd > STDERR_FILENO) fd_set_open_file(fd, 0);
  return result;
}

// In the child the terminal becomes 0 to 2, and the master is closed.
EXPORT int forkpty(int *master, char *name, const struct termios *modes, const struct winsize *size) {
  REAL(int, forkpty, int *, char *, const struct termios *, const struct winsize *);
  uint64_t start = stamp();
  int child = real(master, name, modes, size);
  if (child >= 0) fd_set_open_file(*master, 0);
  for (int fd = 0; child == 0 && fd <= STDERR_FILENO; fd++) fd_set_open_file(fd, 0);
  if (child != 0) put_process_call(KIND_forkpty, start, child < 0 ? -errno : child);
  return child;
}

// The parent exits inside the call; the child has no terminal, and perhaps another working directory.
EXPORT int daemon(int stays, int keeps) {
  REAL(int, daemon, int, int);
  uint64_t start = stamp();
  int result = real(stays, keeps);
  for (int fd = 0; !keeps && fd <= STDERR_FILENO; fd++) fd_set_open_file(fd, 0);
  forget_working_directory();
  put_process_call(KIND_daemon, start, result < 0 ? -errno : 0);
  return result;
}
