// SPDX-License-Identifier: Apache-2.0
// A user's preload: reads of 12 KiB compute for 10 ms before their system call, on their own processor or not.
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

enum { kSlowBytes = 12288, kBusyNs = 10000000 };

static long computed_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

__attribute__((visibility("default"))) ssize_t read(int fd, void *buffer, size_t bytes) {
  long end = computed_ns() + kBusyNs;
  while (bytes == kSlowBytes && computed_ns() < end) {
  }
  static ssize_t (*real)(int, void *, size_t);
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "read");
  return real(fd, buffer, bytes);
}
