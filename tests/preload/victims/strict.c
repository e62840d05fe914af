// SPDX-License-Identifier: Apache-2.0
// strict N HOW: N preads, then a call that takes the time stamp counter away, then N reads.
// HOW: seccomp (SECCOMP_MODE_STRICT), tsc (PR_SET_TSC), forks (the same, and a forked child reads too), or refused: a
// seccomp call that fails and takes nothing away.
#include "victim.h"

int main(int argc, char **argv) {
  int fd = open_zero(), error = 0, status = 0;
  const char *how = argv[argc - 1];
  read_often(fd, atol(argv[1]));
  if (!strcmp(how, "seccomp")) error = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
  int forks = !strcmp(how, "forks");
  if (forks || !strcmp(how, "tsc")) error = prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
  if (!strcmp(how, "refused")) error = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 0, 0, 0) == 0;
  pid_t child = forks ? fork() : 0;
  for (long i = 0; i < atol(argv[1]); i++) read(fd, &(char){0}, 1);
  if (child) waitpid(child, &status, 0);
  syscall(SYS_exit, error || status);
}
