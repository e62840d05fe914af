// SPDX-License-Identifier: Apache-2.0
// numbered_reads COUNT PAUSE_US: reads at offset 0, 1, 2, ..., and says on stdout, unbuffered, when it is through.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const long count = atol(argv[1]);
  const useconds_t pause_us = (useconds_t)atol(argv[2]);
  const int fd = open("/dev/zero", O_RDONLY);
  char byte = 0;
  for (long i = 0; i < count; i++) {
    if (pread(fd, &byte, 1, i) != 1) return 1;
    if (pause_us != 0) usleep(pause_us);
  }
  return write(1, "done\n", 5) == 5 ? 0 : 1;
}
