// SPDX-License-Identifier: Apache-2.0
// confined FILE: allows itself read, write, openat, close and exit, everything else kills; then uses descriptors it
// never used, and looks 200 times for a file.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

int main(int count, char **arguments) {
  struct sock_filter steps[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                ALLOW(SYS_read),
                                ALLOW(SYS_write),
                                ALLOW(SYS_openat),
                                ALLOW(SYS_close),
                                ALLOW(SYS_exit_group),
                                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  struct sock_fprog program = {sizeof steps / sizeof steps[0], steps};
  char byte;
  int used = count == 2 ? open(arguments[1], O_RDONLY) : -1;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 2;
  read(0, &byte, 1);     // never met before
  read(used, &byte, 1);  // known
  int fd = open(arguments[1], O_RDONLY);
  for (int i = 0; i < 200; i++) open("relative", O_RDONLY);  // not there
  return read(fd, &byte, 1) != 1 || close(fd) || close(used);
}
