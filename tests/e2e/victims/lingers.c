// SPDX-License-Identifier: Apache-2.0
// A free that returns some time after the block may be reused: libc's free, and then twenty microseconds.
#include <stddef.h>
#include <time.h>

void __libc_free(void *block);

void free(void *block) {
  struct timespec now, start;
  __libc_free(block);
  if (!block) return;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec < 20000);
}
