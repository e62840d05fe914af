// SPDX-License-Identifier: Apache-2.0
// Calls after which the calling thread may have descriptors or a working directory of its own: the process's tables
// then do not hold for all of its threads. Calls made through syscall() come here too (confinement_hooks.c).
#include <sched.h>

#include "preload/base/real_function.h"
#include "preload/calls/working_directory.h"
#include "preload/files/fd_table.h"

// The kernel refuses CLONE_NEWNS and CLONE_NEWUSER with a shared working directory.
EXPORT int unshare(int flags) {
  REAL(int, unshare, int);
  int result = real(flags);
  if (result == 0 && flags & CLONE_FILES) fd_table_divides();
  working_directory_changes(result == 0 && flags & (CLONE_FS | CLONE_NEWNS | CLONE_NEWUSER));
  return result;
}

// A process that enters another mount namespace is at its root.
EXPORT int setns(int fd, int kind) {
  REAL(int, setns, int, int);
  int result = real(fd, kind);
  if (result == 0) forget_working_directory();
  return result;
}
