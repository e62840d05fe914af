// SPDX-License-Identifier: Apache-2.0
// Six children made past libc, or partly; each preads ten times, the first three then kill themselves.
#include "victim.h"

static pid_t make_child(int how) {
  if (how == 0) return (pid_t)syscall(SYS_fork);
  if (how == 1) return _Fork();
  return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

int main(int argc, char **argv) {
  int fd = open_zero();
  if (argc > 1 && !strcmp(argv[1], "first")) read_often(fd, 1);
  for (int i = 0; i < 6; i++) {
    pid_t child = make_child(i % 3);
    if (!child) read_often(fd, 10);
    if (!child && i < 3) kill(getpid(), SIGKILL);
    if (!child) _exit(0);
    waitpid(child, 0, 0);
  }
  _exit(0);
}
