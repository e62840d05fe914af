// SPDX-License-Identifier: Apache-2.0
// seccomp_filter FILE COUNT name|number|wide: by prctl, by its number, or by the number of seccomp with an argument whose upper half the kernel ignores,
// installs a filter that kills the process for any system call but read, write, pread64, close and exit_group, preads COUNT numbered bytes under it and
// says so.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ALLOW(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

int main(int count, char **arguments) {
  if (count != 4) return 2;
  int fd = open(arguments[1], O_RDONLY);
  struct sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                ALLOW(SYS_read),
                                ALLOW(SYS_write),
                                ALLOW(SYS_pread64),
                                ALLOW(SYS_close),
                                ALLOW(SYS_exit_group),
                                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  bool by_number = arguments[3][1] == 'u', is_wide = arguments[3][0] == 'w';
  if (is_wide && syscall(SYS_seccomp, 1L << 40 | SECCOMP_SET_MODE_FILTER, 0L, &program)) return 3;
  if (by_number && syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 3;
  if (!by_number && !is_wide && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 3;
  char byte;
  for (long i = 0; i < atol(arguments[2]); i++) pread(fd, &byte, 1, i);
  if (write(1, "done\n", 5) != 5) return 4;
  _exit(9);
}
