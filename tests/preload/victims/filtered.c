// SPDX-License-Identifier: Apache-2.0
// filtered N: N preads, then a seccomp filter that kills for any call but these, then N preads of a forked child and
// our own.
#include "victim.h"

#define ALLOW(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
static struct sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                      ALLOW(SYS_pread64),
                                      ALLOW(SYS_exit_group),
                                      ALLOW(SYS_clone),
                                      ALLOW(SYS_set_robust_list),
                                      ALLOW(SYS_wait4),
                                      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};

int main(int argc, char **argv) {
  int fd = open_zero(), status = 0;
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  read_often(fd, atol(argv[argc - 1]));
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return 8;
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 9;
  pid_t child = fork();
  read_often(fd, atol(argv[argc - 1]));
  if (child) wait4(child, &status, 0, 0);
  _exit(status != 0);
}
