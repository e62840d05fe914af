// SPDX-License-Identifier: Apache-2.0
// asks_beside FILE: opens FILE and prints what getppid() says when beside.so is preloaded: 4242.
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (count != 2) return 2;
  int fd = open(arguments[1], O_RDONLY);
  char byte;
  return printf("%d %zd\n", getppid() == 4242, pread(fd, &byte, 1, 0)) < 0;
}
