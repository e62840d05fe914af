// SPDX-License-Identifier: Apache-2.0
// early_blocks FILE EARLY LATE: EARLY small blocks at once, then for LATE milliseconds and more ten small blocks and a
// pread of one byte at a time, whose offset is its serial number.
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void blocks(long count) {
  for (long i = 0; i < count; i++) {
    void *volatile block = malloc(24);
    free(block);
  }
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  int fd = open(arguments[1], O_RDONLY);
  char byte;
  blocks(atol(arguments[2]));
  for (long i = 0; i < atol(arguments[3]); i++) {
    struct timespec pause = {0, 1000000};
    blocks(10);
    pread(fd, &byte, 1, i);
    nanosleep(&pause, NULL);
  }
  return 0;
}
