// SPDX-License-Identifier: Apache-2.0
// address_space FILE COUNT: preads COUNT numbered bytes, then takes memory in 1 MiB steps until malloc refuses, and
// prints how much of the limit was to be had, in tenths.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (count != 3) return 2;
  struct rlimit limit;
  getrlimit(RLIMIT_AS, &limit);
  int fd = open(arguments[1], O_RDONLY);
  char byte;
  for (long i = 0; i < atol(arguments[2]); i++) pread(fd, &byte, 1, i);
  unsigned long taken = 0;
  while (malloc(1 << 20)) taken += 1 << 20;
  return printf("%d\n", taken > limit.rlim_cur / 10 * 7) < 0;
}
