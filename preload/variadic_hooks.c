// SPDX-License-Identifier: Apache-2.0
// open, openat, fcntl: libc declares them with "...", so the table cannot write their wrappers. The optional argument
// is read only where the call has one, and is passed on in full.
#include <stdarg.h>

#include "preload/capture.h"
#include "preload/path_call.h"
#include "preload/real_function.h"
#include "preload/traced_call.h"

typedef int (*open_function)(const char *, int, ...);
typedef int (*openat_function)(int, const char *, int, ...);
typedef int (*fcntl_function)(int, int, ...);

static int traced_open(open_function real, const char *path, int flags, mode_t mode) {
  struct path_call call PATH_CALL_CLEANUP = {
      .call.kind = KIND_open, .call.fd = AT_FDCWD, .call.requested = PAIR(flags, mode), .path = path, .opens = true};
  begin_path_call(&call);
  int result = real(path, flags, mode);
  end_path_call(&call, result);
  return result;
}

static int traced_openat(openat_function real, int dirfd, const char *path, int flags, mode_t mode) {
  struct path_call call PATH_CALL_CLEANUP = {
      .call.kind = KIND_openat, .call.fd = dirfd, .call.requested = PAIR(flags, mode), .path = path, .opens = true};
  begin_path_call(&call);
  int result = real(dirfd, path, flags, mode);
  end_path_call(&call, result);
  return result;
}

// The argument as far as it is a number: some commands have none, some a pointer.
static uint64_t number_argument(int command, const void *argument) {
  switch (command) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
    case F_SETFD:
    case F_SETFL:
    case F_SETOWN:
    case F_SETSIG:
    case F_SETLEASE:
    case F_NOTIFY:
    case F_SETPIPE_SZ:
    case F_ADD_SEALS: return (uint32_t)(uintptr_t)argument;
  }
  return 0;
}

static int traced_fcntl(fcntl_function real, int fd, int command, void *argument) {
  struct pending_call call CALL_CLEANUP = {.kind = KIND_fcntl,
                                           .fd = fd,
                                           .requested = (uint32_t)command,
                                           .offset = MLRUN_NO_OFFSET,
                                           .arg2 = number_argument(command, argument)};
  begin_call(&call);
  int result = real(fd, command, argument);
  if (result >= 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC))
    fd_set_open_file(result, call.start ? call.open_file : known_open_file(fd));
  end_call(&call, result);
  return result;
}

// Passed on as 0 where the call has none.
static mode_t mode_argument(int flags, va_list list) {
  return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, mode_t) : 0;
}

#define OPEN_HOOK(symbol_name)                               \
  EXPORT int symbol_name(const char *path, int flags, ...) { \
    REAL(int, symbol_name, const char *, int, ...);          \
    va_list list;                                            \
    va_start(list, flags);                                   \
    mode_t mode = mode_argument(flags, list);                \
    va_end(list);                                            \
    return traced_open(real, path, flags, mode);             \
  }
OPEN_HOOK(open)
OPEN_HOOK(open64)
OPEN_HOOK(__open)
OPEN_HOOK(__open64)

#define OPENAT_HOOK(symbol_name)                                        \
  EXPORT int symbol_name(int dirfd, const char *path, int flags, ...) { \
    REAL(int, symbol_name, int, const char *, int, ...);                \
    va_list list;                                                       \
    va_start(list, flags);                                              \
    mode_t mode = mode_argument(flags, list);                           \
    va_end(list);                                                       \
    return traced_openat(real, dirfd, path, flags, mode);               \
  }
OPENAT_HOOK(openat)
OPENAT_HOOK(openat64)

#define FCNTL_HOOK(symbol_name)                       \
  EXPORT int symbol_name(int fd, int command, ...) {  \
    REAL(int, symbol_name, int, int, ...);            \
    va_list list;                                     \
    va_start(list, command);                          \
    void *argument = va_arg(list, void *);            \
    va_end(list);                                     \
    return traced_fcntl(real, fd, command, argument); \
  }
FCNTL_HOOK(fcntl)
FCNTL_HOOK(fcntl64)
FCNTL_HOOK(__fcntl)
