// SPDX-License-Identifier: Apache-2.0
// Calls by which a program limits or locks its own memory: what recording has mapped must not be in its way.
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "preload/address_space.h"
#include "preload/fd_table.h"
#include "preload/memory_lock.h"
#include "preload/raw_syscall.h"
#include "preload/real_function.h"
#include "preload/recorder.h"

static void follow_limit(int resource, rlim_t bytes) {
  if (bytes == RLIM_INFINITY || !recording_system_calls_allowed()) return;
  if (resource == RLIMIT_AS) fit_address_space(bytes);
  if (resource == RLIMIT_DATA) fd_table_fit_data_limit();
}

static bool is_own(pid_t pid) { return pid == 0 || pid == (pid_t)raw_syscall0(SYS_getpid); }

EXPORT int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit) {
  REAL(int, setrlimit, __rlimit_resource_t, const struct rlimit *);
  int result = real(resource, limit);
  if (result == 0) follow_limit((int)resource, limit->rlim_cur);
  return result;
}

EXPORT int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit) {
  REAL(int, setrlimit64, __rlimit_resource_t, const struct rlimit64 *);
  int result = real(resource, limit);
  if (result == 0) follow_limit((int)resource, limit->rlim_cur);
  return result;
}

EXPORT int prlimit(pid_t pid, enum __rlimit_resource resource, const struct rlimit *limit, struct rlimit *old) {
  REAL(int, prlimit, pid_t, enum __rlimit_resource, const struct rlimit *, struct rlimit *);
  int result = real(pid, resource, limit, old);
  if (result == 0 && limit && is_own(pid)) follow_limit((int)resource, limit->rlim_cur);
  return result;
}

EXPORT int prlimit64(pid_t pid, enum __rlimit_resource resource, const struct rlimit64 *limit, struct rlimit64 *old) {
  REAL(int, prlimit64, pid_t, enum __rlimit_resource, const struct rlimit64 *, struct rlimit64 *);
  int result = real(pid, resource, limit, old);
  if (result == 0 && limit && is_own(pid)) follow_limit((int)resource, limit->rlim_cur);
  return result;
}

EXPORT int mlockall(int flags) {
  REAL(int, mlockall, int);
  return lock_all_but_ours(flags, real);
}
