// SPDX-License-Identifier: Apache-2.0
// Memory that is mapped by two calls of 8 and 4 MiB, and what is in it.
#pragma once

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { kMiB = 1 << 20, kFirst = 8 * kMiB, kAll = 12 * kMiB };

static char *map(void *at, size_t bytes, int access, int flags) {
  char *got = mmap(at, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  if (got == MAP_FAILED) exit(3);
  return got;
}

// Requires: kAll bytes at `at` are reserved.
static void map_two(char *at) {
  map(at, kFirst, PROT_READ | PROT_WRITE, MAP_FIXED);
  map(at + kFirst, kAll - kFirst, PROT_READ | PROT_WRITE, MAP_FIXED);
  for (int i = 0; i < kAll / kMiB; i++) memset(at + (size_t)i * kMiB, i + 1, kMiB);
}

static int is_kept(const char *at) {
  for (size_t i = 0; i < kAll; i++)
    if (at[i] != (char)(i / kMiB + 1)) return 0;
  return 1;
}
