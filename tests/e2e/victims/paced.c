// SPDX-License-Identifier: Apache-2.0
// paced FILE COUNT PROGRESS PAUSE: pread of COUNT numbered bytes, with the number of finished calls kept in the
// first eight bytes of PROGRESS (mapped), a pause of PAUSE ns between calls; prints the sum of what was read.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (count != 5) return 2;
  int progress = open(arguments[3], O_RDWR), fd = open(arguments[1], O_RDONLY);
  volatile long *finished = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, progress, 0);
  struct timespec pause = {0, atol(arguments[4])};
  long calls = atol(arguments[2]), sum = 0;
  for (long i = 0; i < calls; i++) {
    unsigned char byte = 0;
    pread(fd, &byte, 1, i);
    sum += byte;
    *finished = i + 1;
    if (pause.tv_nsec) nanosleep(&pause, NULL);
  }
  printf("%ld\n", sum);
  return 3;
}
