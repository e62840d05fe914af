// SPDX-License-Identifier: Apache-2.0
// A preload of the user's own: storage that is slow for one process. Reads of files whose name ends in $SLOW_READS take
// $SLOW_READS_MS longer; a process without both reads at normal speed.
// The sleep is a call that is recorded within the read, as those are that a storage client in a library makes.
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int is_slow(int fd, const char *end) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t bytes = readlink(link, path, sizeof path);
  size_t end_bytes = strlen(end);
  return bytes >= (ssize_t)end_bytes && !memcmp(path + bytes - end_bytes, end, end_bytes);
}

ssize_t read(int fd, void *buffer, size_t bytes) {
  const char *end = getenv("SLOW_READS"), *ms = getenv("SLOW_READS_MS");
  if (end && ms && is_slow(fd, end)) {
    const struct timespec pause = {atol(ms) / 1000, atol(ms) % 1000 * 1000000};
    nanosleep(&pause, NULL);
  }
  static ssize_t (*real)(int, void *, size_t);
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "read");
  return real(fd, buffer, bytes);
}
