// SPDX-License-Identifier: Apache-2.0
// Arguments: FOLDER COUNT. Enters FOLDER by chroot, becomes an unprivileged user, and preads COUNT numbered bytes of
// /data.bin there.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (count != 3) return 2;
  if (chroot(arguments[1]) || chdir("/") || setgid(65534) || setuid(65534)) return 3;
  int fd = open("/data.bin", O_RDONLY);
  char byte;
  for (long i = 0; i < atol(arguments[2]); i++) pread(fd, &byte, 1, i);
  printf("%u %zd\n", getuid(), pread(fd, &byte, 1, 0));
  return fork() == 0 ? pread(fd, &byte, 1, 1) != 1 : 0;
}
