// SPDX-License-Identifier: Apache-2.0
// errno for this library alone, for the same reason as own_string.c: it is always libc's own, even if the program has a
// function of this name. libc is loaded at the start, so the distance from a thread's control block to its errno is the
// same in all threads.
#include <errno.h>
#include <stdint.h>

#include "preload/base/real_function.h"

HOT static intptr_t distance;  // 0: unknown so far

static COLD int *find_errno(void) {
  int *found = ((int *(*)(void))libc_symbol("__errno_location"))();
  __atomic_store_n(&distance, (char *)found - (char *)__builtin_thread_pointer(), __ATOMIC_RELAXED);
  return found;
}

int *__errno_location(void) {
  intptr_t known = __atomic_load_n(&distance, __ATOMIC_RELAXED);
  return likely(known) ? (int *)((char *)__builtin_thread_pointer() + known) : find_errno();
}
