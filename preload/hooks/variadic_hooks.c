// SPDX-License-Identifier: Apache-2.0
// open, openat, fcntl, ioctl, mremap: libc declares them with "...", so the table cannot generate their wrappers. The
// optional argument is used only if the call has one, and is always passed on.
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "preload/base/real_function.h"

#define TRACE_FLAGS 0
#include "preload/calls/trace_forms.h"

typedef int (*fcntl_function)(int, int, ...);

static int traced_fcntl(fcntl_function real, int fd, int command, void *argument) {
  struct pending_call call CALL_CLEANUP = {.kind = KIND_fcntl,
                                           .fd = fd,
                                           .requested = (uint32_t)command,
                                           .offset = MLRUN_NO_OFFSET,
                                           .arg2 = fcntl_number(command, argument)};
  begin_call(&call);
  int result = real(fd, command, argument);
  end_fcntl(&call, command, result);
  return result;
}

// The mode to pass on: 0 if the flags do not ask for one.
static mode_t mode_of(int flags, mode_t mode) { return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? mode : 0; }

// Defined with a parameter in place of libc's "...", under a name of its own: on x86-64 both are passed in the same
// register, and without a variable argument list the hook can end in a jump. Each return to a caller that called before
// a system call is mispredicted.
#define OPEN_HOOK(symbol_name)                                                                   \
  EXPORT int symbol_name##_hook(const char *path, int flags, mode_t mode) __asm__(#symbol_name); \
  int symbol_name##_hook(const char *path, int flags, mode_t mode) {                             \
    REAL(int, symbol_name, const char *, int, ...);                                              \
    return traced_open(path, flags, mode_of(flags, mode), real);                                 \
  }
OPEN_HOOK(open)
OPEN_HOOK(open64)
OPEN_HOOK(__open)
OPEN_HOOK(__open64)

#define OPENAT_HOOK(symbol_name)                                                                            \
  EXPORT int symbol_name##_hook(int dirfd, const char *path, int flags, mode_t mode) __asm__(#symbol_name); \
  int symbol_name##_hook(int dirfd, const char *path, int flags, mode_t mode) {                             \
    REAL(int, symbol_name, int, const char *, int, ...);                                                    \
    return traced_openat(dirfd, path, flags, mode_of(flags, mode), real);                                   \
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

EXPORT int ioctl(int fd, unsigned long request, ...) {
  REAL(int, ioctl, int, unsigned long, ...);
  va_list list;
  va_start(list, request);
  void *argument = va_arg(list, void *);
  va_end(list);
  struct pending_call call CALL_CLEANUP = {
      .kind = KIND_ioctl, .fd = fd, .requested = request, .offset = MLRUN_NO_OFFSET, .arg2 = (uintptr_t)argument};
  begin_call(&call);
  int result = real(fd, request, argument);
  end_call(&call, result);
  return result;
}

#define MREMAP_BODY(...) TRACE(KIND_mremap, void *, real(old, old_bytes, bytes, flags, wanted), __VA_ARGS__)

EXPORT void *mremap(void *old, size_t old_bytes, size_t bytes, int flags, ...) {
  REAL(void *, mremap, void *, size_t, size_t, int, ...);
  va_list list;
  va_start(list, flags);
  void *wanted = va_arg(list, void *);  // only some flags need it, more of them in newer libcs: libc knows which
  va_end(list);
  MREMAP_BODY(REMAPPED(old, old_bytes, bytes, flags, wanted))
}
