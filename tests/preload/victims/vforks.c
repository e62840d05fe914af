// SPDX-License-Identifier: Apache-2.0
// vforks N: N times vfork or posix_spawn. The vfork child closes its parent's open descriptors, opens, reads, then
// executes a program or fails to. In each round the parent preads every descriptor: each must still refer to its own
// file.
#include "victim.h"

static void misbehave(const int *fds, const char *program) {
  for (int i = 0; i < 10; i++) close(fds[i]);
  pread(open("/dev/null", O_RDONLY), &(char){0}, 1, 0);
  execl(program, program, (char *)0);
  _exit(127);
}

int main(int argc, char **argv) {
  int fds[10], status;
  volatile int bad = 0;
  for (int i = 0; i < 10; i++) fds[i] = open_zero();
  for (int round = 0; round < atoi(argv[argc - 1]); round++) {
    pid_t child = -1;
    if (round % 3 == 2) posix_spawn(&child, "/bin/true", 0, 0, (char *[]){"true", 0}, environ);
    if (round % 3 < 2 && !(child = vfork())) misbehave(fds, round % 3 ? "/nonexistent" : "/bin/true");
    for (int i = 0; i < 10; i++) pread(fds[i], &(char){0}, 1, i);
    waitpid(child, &status, 0);
    bad += status != (round % 3 == 1 ? 127 << 8 : 0);
  }
  dprintf(1, "bad=%d\n", bad);
}
