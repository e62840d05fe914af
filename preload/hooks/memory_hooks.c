// SPDX-License-Identifier: Apache-2.0
// Calls by which a program limits or locks its own memory: the recorder's mappings must not interfere. Also calls that
// unmap memory which another thread may have passed to its call (program_memory.h).
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <unistd.h>

#include "preload/base/raw_syscall.h"
#include "preload/base/real_function.h"
#include "preload/core/program_memory.h"
#include "preload/core/recorder.h"
#include "preload/files/fd_table.h"
#include "preload/record/channel.h"
#include "preload/start/address_space.h"
#include "preload/start/memory_lock.h"

// The requested limit, read before the call, which may write the old limit over it. RLIM_INFINITY, which has no effect
// here, if it cannot be read or the process is not traced.
static rlim_t limit_asked_for(const void *limit) {
  struct rlimit copy;
  bool known = limit && process.arena && read_from_program(&copy, limit, sizeof copy, false);
  return known ? copy.rlim_cur : RLIM_INFINITY;
}

static void follow_limit(int resource, rlim_t bytes) {
  if (bytes == RLIM_INFINITY || !recording_system_calls_allowed()) return;
  if (resource == RLIMIT_AS) fit_address_space(bytes);
  if (resource == RLIMIT_DATA) fd_table_fit_data_limit();
}

static bool is_own(pid_t pid) {
  return pid == 0 || (recording_system_calls_allowed() && pid == (pid_t)raw_syscall0(SYS_getpid));
}

_Static_assert(sizeof(struct rlimit) == sizeof(struct rlimit64), "one layout for both");

EXPORT int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit) {
  REAL(int, setrlimit, __rlimit_resource_t, const struct rlimit *);
  rlim_t bytes = limit_asked_for(limit);
  int result = real(resource, limit);
  if (result == 0) follow_limit((int)resource, bytes);
  return result;
}

EXPORT int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit) {
  REAL(int, setrlimit64, __rlimit_resource_t, const struct rlimit64 *);
  rlim_t bytes = limit_asked_for(limit);
  int result = real(resource, limit);
  if (result == 0) follow_limit((int)resource, bytes);
  return result;
}

EXPORT int prlimit(pid_t pid, enum __rlimit_resource resource, const struct rlimit *limit, struct rlimit *old) {
  REAL(int, prlimit, pid_t, enum __rlimit_resource, const struct rlimit *, struct rlimit *);
  rlim_t bytes = limit_asked_for(limit);
  int result = real(pid, resource, limit, old);
  if (result == 0 && bytes != RLIM_INFINITY && is_own(pid)) follow_limit((int)resource, bytes);
  return result;
}

EXPORT int prlimit64(pid_t pid, enum __rlimit_resource resource, const struct rlimit64 *limit, struct rlimit64 *old) {
  REAL(int, prlimit64, pid_t, enum __rlimit_resource, const struct rlimit64 *, struct rlimit64 *);
  rlim_t bytes = limit_asked_for(limit);
  int result = real(pid, resource, limit, old);
  if (result == 0 && bytes != RLIM_INFINITY && is_own(pid)) follow_limit((int)resource, bytes);
  return result;
}

EXPORT int mlockall(int flags) {
  REAL(int, mlockall, int);
  return lock_all_but_ours(flags, real);
}

EXPORT int shmdt(const void *address) {
  REAL(int, shmdt, const void *);
  begin_memory_change();
  int result = real(address);
  end_memory_change();
  return result;
}
