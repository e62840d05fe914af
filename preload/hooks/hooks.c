// SPDX-License-Identifier: Apache-2.0
// Generates the plain wrappers: one for each FUNCTION and VARIANT line of the hook table. The line's capture chooses the
// body (trace_forms.h).
#include <aio.h>
#include <dirent.h>
#include <glob.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <termios.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "preload/base/old_version.h"
#include "preload/base/real_function.h"

#define TRACE_FLAGS 0
#include "preload/calls/trace_forms.h"

#define HOOK(kind, symbol_name, ret, parameters, arguments, ...)              \
  EXPORT ret symbol_name parameters {                                         \
    static ret(*real) parameters;                                             \
    if (unlikely(!real)) real = (ret(*) parameters)next_symbol(#symbol_name); \
    if (unlikely(!real)) return (ret)missing_function();                      \
    TRACE(kind, ret, real arguments, __VA_ARGS__)                             \
  }
#define FUNCTION(number, name, class, ret, parameters, arguments, capture) \
  HOOK(KIND_##name, name, ret, parameters, arguments, capture)
#define VARIANT(name, symbol_name, ret, parameters, arguments, capture) \
  HOOK(KIND_##name, symbol_name, ret, parameters, arguments, capture)
#include "runner/events/hooks.def"

#define OLD_HOOK(name, symbol_name, version, ret, parameters, arguments, ...)           \
  OLD_VERSION(ret, symbol_name, version, parameters) {                                  \
    static ret(*real) parameters;                                                       \
    if (unlikely(!real)) real = (ret(*) parameters)next_version(#symbol_name, version); \
    TRACE(KIND_##name, ret, real arguments, __VA_ARGS__)                                \
  }
// Before glibc 2.27 glob called gl_stat of GLOB_ALTDIRFUNC, and not gl_lstat, which old programs need not set
OLD_HOOK(glob, glob, "GLIBC_2.2.5", int,
         (const char *path, int flags, int (*complain)(const char *, int), glob_t *found),
         (path, flags, complain, found), ON_PATH_INTO(AT_FDCWD, path, flags, found, sizeof *found))
OLD_HOOK(glob, glob64, "GLIBC_2.2.5", int,
         (const char *path, int flags, int (*complain)(const char *, int), glob64_t *found),
         (path, flags, complain, found), ON_PATH_INTO(AT_FDCWD, path, flags, found, sizeof *found))
// Before glibc 2.3.2 a pthread_cond_t was a pointer to a condition that libc made
OLD_HOOK(pthread_cond_wait, pthread_cond_wait, "GLIBC_2.2.5", int, (pthread_cond_t * condition, pthread_mutex_t *mutex),
         (condition, mutex), ERROR_OF(AWAITS(0, (uintptr_t)condition)))
OLD_HOOK(pthread_cond_timedwait, pthread_cond_timedwait, "GLIBC_2.2.5", int,
         (pthread_cond_t * condition, pthread_mutex_t *mutex, const struct timespec *until), (condition, mutex, until),
         ERROR_OF(AWAITS(0, (uintptr_t)condition)))
