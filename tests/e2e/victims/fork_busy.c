// SPDX-License-Identifier: Apache-2.0
// fork_busy FILE COUNT: parent and child each pread COUNT numbered bytes at the same time; the child ends by _exit. A
// grandchild forked in the middle does the same and ends by SIGKILL.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void read_numbered(int fd, long first, long last) {
  char byte;
  for (long i = first; i < last; i++) pread(fd, &byte, 1, i);
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  int fd = open(arguments[1], O_RDONLY);
  long calls = atol(arguments[2]);
  if (fork() == 0) {
    read_numbered(fd, 0, calls / 2);
    if (fork() == 0) {
      read_numbered(fd, 0, calls);
      kill(getpid(), SIGKILL);
    }
    read_numbered(fd, calls / 2, calls);
    wait(NULL);
    _exit(0);
  }
  read_numbered(fd, 0, calls);
  return wait(NULL) < 0;
}
