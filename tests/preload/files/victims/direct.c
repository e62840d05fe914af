// SPDX-License-Identifier: Apache-2.0
// direct FILE: O_DIRECT refuses unaligned I/O.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **arguments) {
  int fd = count == 2 ? open(arguments[1], O_RDWR | O_CREAT | O_DIRECT, 0600) : -1;
  char *page = aligned_alloc(4096, 8192);
  pwrite(fd, page, 4096, 0), pread(fd, page + 1, 4096, 0), pread(fd, page, 4096, 0), pwrite(fd, page, 100, 0);
  return close(fd);
}
