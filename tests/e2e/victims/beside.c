// SPDX-License-Identifier: Apache-2.0
// A preload library of the user's own: getppid() answers 4242, and its open() passes on to the next one.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/types.h>
#include <unistd.h>

pid_t getppid(void) { return 4242; }

int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = va_arg(more, mode_t);
  va_end(more);
  int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
  return next(path, flags, mode);
}
