// SPDX-License-Identifier: Apache-2.0
// A vfork child forks and exits; the grandchild, which has its own memory, preads.
#include "victim.h"

int main(void) {
  int fd = open_zero(), status;
  read_often(fd, 1);
  pid_t child = vfork();
  if (child == 0) {
    if (fork() == 0) {
      read_often(fd, 1);
      _exit(0);
    }
    _exit(3);
  }
  waitpid(child, &status, 0);
  usleep(20000);
  _exit(WEXITSTATUS(status) != 3);
}
