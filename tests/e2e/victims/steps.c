// SPDX-License-Identifier: Apache-2.0
// steps FILE COUNT: waits for a byte on stdin, preads COUNT numbered bytes and says so, until stdin ends. The numbers
// continue from step to step.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (count != 3) return 2;
  int fd = open(arguments[1], O_RDONLY);
  long calls = atol(arguments[2]), number = 0;
  char go, byte;
  while (read(0, &go, 1) == 1) {
    for (long i = 0; i < calls; i++) pread(fd, &byte, 1, number++);
    write(1, "done\n", 5);
  }
  return 0;
}
