// SPDX-License-Identifier: Apache-2.0
// big_write OUT: writes 64 KiB blocks to OUT until the file-size limit stops it; says how far it came and which errno
// it met.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(int count, char **arguments) {
  static char block[65536];
  if (count != 2) return 2;
  signal(SIGXFSZ, SIG_IGN);
  int fd = open(arguments[1], O_WRONLY | O_CREAT | O_TRUNC, 0644);
  long written = 0, got;
  while ((got = write(fd, block, sizeof block)) > 0) written += got;
  printf("%ld bytes, EFBIG %d\n", written, errno == EFBIG);
  for (int i = 0; i < 200000; i++) pwrite(fd, block, 1, 0);
  return 0;
}
