// SPDX-License-Identifier: Apache-2.0
// seccomp_strict FILE COUNT: enters SECCOMP_MODE_STRICT, where only read, write and exit exist and the time stamp
// counter faults, reads COUNT single bytes and leaves by the bare exit call.
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (count != 3) return 2;
  int fd = open(arguments[1], O_RDONLY);
  long calls = atol(arguments[2]);
  char byte;
  for (long i = 0; i < calls; i++) read(fd, &byte, 1);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)) return 3;
  for (long i = 0; i < calls; i++) read(fd, &byte, 1);
  write(1, "done\n", 5);
  syscall(SYS_exit, 9);
}
