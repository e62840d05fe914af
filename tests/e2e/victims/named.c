// SPDX-License-Identifier: Apache-2.0
// Reads and allocates in functions of known names. Usage: named FILE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char bytes[4096];

__attribute__((noinline)) static void read_block(int fd) {
  if (pread(fd, bytes, sizeof bytes, 0) < 0) abort();
}

__attribute__((noinline)) static void make_block(void) {
  void *volatile block = malloc(70000);
  free(block);
}

__attribute__((noinline)) static void do_epoch(int fd) {
  for (int i = 0; i < 100; i++) {
    read_block(fd);
    make_block();
  }
}

int main(int argc, char **argv) {
  int fd = open(argv[argc - 1], O_RDONLY);
  do_epoch(fd);
  puts("done");
  return 0;
}
