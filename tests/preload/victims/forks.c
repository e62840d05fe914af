// SPDX-License-Identifier: Apache-2.0
// forks busy CHILDREN CALLS: the children and their parent pread at the same time.
// forks short CHILDREN CALLS: one child after the other, up to eight at once.
#include "victim.h"

int main(int argc, char **argv) {
  int fd = open_zero(), busy = !strcmp(argv[1], "busy");
  long calls = atol(argv[argc - 1]);
  read_often(fd, 1);
  for (int i = 0; i < atoi(argv[2]); i++) {
    if (!busy && i >= 8) wait(0);
    if (fork() == 0) {
      read_often(fd, calls);
      _exit(0);
    }
  }
  if (busy) read_often(fd, calls);
  while (wait(0) > 0) continue;
  _exit(0);
}
