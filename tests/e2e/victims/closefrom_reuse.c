// SPDX-License-Identifier: Apache-2.0
// closefrom_reuse FILE OUT COUNT: closes every descriptor from 3 up, opens FILE and OUT on the same numbers, preads
// COUNT numbered bytes of FILE and writes eight bytes to OUT.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (count != 4) return 2;
  int before = open(arguments[1], O_RDONLY);
  char byte;
  pread(before, &byte, 1, 0);
  closefrom(3);
  int out = open(arguments[2], O_WRONLY | O_CREAT | O_EXCL, 0644);
  int fd = open(arguments[1], O_RDONLY);
  if (out != before) return 3;
  for (long i = 1; i < atol(arguments[3]); i++) pread(fd, &byte, 1, i);
  if (write(out, "01234567", 8) != 8) return 4;
  closefrom(3);
  return 0;
}
