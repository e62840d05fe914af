// SPDX-License-Identifier: Apache-2.0
// Grows and moves memory that was mapped by two calls of 8 and 4 MiB, which the kernel makes one mapping. Prints what must be the same under a rule
// that is about the first of them.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "two_mappings.h"

enum { kRoom = 64 * (1 << 20) };

// In front of addresses that are taken, but not accessible.
static char *made(void) {
  char *at = map(NULL, kRoom, PROT_NONE, MAP_NORESERVE);
  map_two(at);
  return at;
}

static char *resized(const char *what, char *at, size_t bytes, int flags, char *wanted) {
  errno = 0;
  char *got = mremap(at, kAll, bytes, flags, wanted);
  int error = errno, failed = got == MAP_FAILED, stayed = got == at;
  if (failed) got = at;
  printf("%s: errno %d, failed %d, same address %d, kept %d\n", what, error, failed, stayed, is_kept(got));
  return got;
}

int main(void) {
  char *at = made();
  at = resized("no room", at, 2 * kAll, 0, NULL);
  char *old = at;
  at = resized("moved", at, 2 * kAll, MREMAP_MAYMOVE, NULL);
  memset(at + kAll, 9, kAll);
  printf("old pages: %d\n", msync(old, kAll, MS_ASYNC) ? errno : 0);

  at = made();
  munmap(at + kAll, kRoom - kAll);
  resized("in place", at, 2 * kAll, 0, NULL);
  printf("zeros: %d\n", at[kAll] == 0 && at[2 * kAll - 1] == 0);

  at = made();
  resized("smaller", at, kAll, 0, NULL);
  char *wanted = map(NULL, kRoom, PROT_READ | PROT_WRITE, 0);
  wanted[2 * kAll] = 5;
  at = resized("fixed", at, 2 * kAll, MREMAP_MAYMOVE | MREMAP_FIXED, wanted);
  printf("there: %d, behind: %d\n", at == wanted, wanted[2 * kAll]);

  at = made();
  wanted = map(NULL, kRoom, PROT_READ | PROT_WRITE, 0);
  wanted[10 * kMiB] = 5;
  errno = 0;
  int moved = mremap(at, kAll, 10 * kMiB, MREMAP_MAYMOVE | MREMAP_FIXED, wanted) == wanted;
  printf("smaller at a fixed address: %d errno %d, first %d, last %d, behind %d", moved, errno, wanted[0],
         wanted[10 * kMiB - 1], wanted[10 * kMiB]);
  printf(", tail: %d\n", msync(at + 11 * kMiB, kMiB, MS_ASYNC) ? errno : 0);

  at = made();
  munmap(at + 4096, 4096);
  errno = 0;
  int failed = mremap(at, kAll, 2 * kAll, MREMAP_MAYMOVE) == MAP_FAILED;
  printf("with a hole: %d errno %d\n", failed, errno);
  return 0;
}
