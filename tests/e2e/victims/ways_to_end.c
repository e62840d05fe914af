// SPDX-License-Identifier: Apache-2.0
// ways_to_end: makes children that end in every way, waits for them in every way, and prints pid and status of each; "-" of one
// that it does not wait for.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kKilled = 9, kStack = 65536 };

static int leave(void *how) {
  access("/", F_OK);  // it records something
  return (int)(long)how;
}

static pid_t start(int how) {
  if (how == 2) return clone(leave, (char *)malloc(kStack) + kStack, SIGCHLD, (void *)7);
  pid_t pid = fork();
  if (pid) return pid;
  access("/", F_OK);
  if (how == 0) syscall(SYS_exit_group, 3);
  if (how == 1) _exit(4);
  kill(getpid(), kKilled);
  for (;;) pause();
}

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  for (int how = 0; how < 4; how++)
    for (int wait_by = 0; wait_by < 4; wait_by++) {
      pid_t pid = start(how);
      int status = -1;
      siginfo_t info = {0};
      if (wait_by == 0) waitpid(pid, &status, 0);
      if (wait_by == 1) wait4(pid, &status, 0, NULL);
      if (wait_by == 2) syscall(SYS_wait4, pid, &status, 0, NULL);
      if (wait_by == 3) {
        waitid(P_PID, pid, &info, WEXITED | WNOWAIT);
        status = info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status;
        waitpid(pid, NULL, 0);
      }
      printf("%d %d\n", pid, status);
    }
  signal(SIGCHLD, SIG_IGN);
  pid_t pid = start(0);
  wait(NULL);
  printf("%d -\n", pid);
  return 0;
}
