// SPDX-License-Identifier: Apache-2.0
// Moves memory that was mapped by two calls of 8 and 4 MiB to a free fixed address, under a limit of address space that has no room for a second copy.
// Prints what must be the same under a rule that is about the first of them.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "two_mappings.h"

enum { kHole = 64 * (1 << 20) };

int main(void) {
  char *hole = map(NULL, kHole, PROT_NONE, MAP_NORESERVE), *at = map(NULL, kAll, PROT_NONE, MAP_NORESERVE);
  map_two(at);
  munmap(hole, kHole);

  long pages = 0;
  FILE *statm = fopen("/proc/self/statm", "r");
  if (!statm || fscanf(statm, "%ld", &pages) != 1) return 4;
  struct rlimit limit = {(rlim_t)pages * 4096 + kAll / 2, RLIM_INFINITY};
  if (setrlimit(RLIMIT_AS, &limit)) return 5;
  char *wanted = hole + kHole / 2;
  errno = 0;
  char *got = mremap(at, kAll, kAll, MREMAP_MAYMOVE | MREMAP_FIXED, wanted);
  int error = errno, is_there = got == wanted;
  printf("moved %d, errno %d, kept %d\n", is_there, error, is_kept(is_there ? got : at));
  return 0;
}
