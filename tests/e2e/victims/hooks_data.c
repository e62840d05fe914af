// SPDX-License-Identifier: Apache-2.0
// hooks_data FILE: every hooked call that moves data or a position, once each, with arguments that tell them apart.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

int main(int count, char **arguments) {
  static char room[200];
  char digits[] = "0123456789";
  struct iovec out[] = {{digits, 3}, {digits, 4}}, in[] = {{room, 2}, {room + 50, 3}};
  int fd = open(arguments[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
  write(fd, digits, 10);
  pwrite(fd, digits, 2, 30);
  writev(fd, out, 2);
  pwritev(fd, out, 2, 40);
  pwritev2(fd, out, 2, 50, RWF_DSYNC);
  lseek(fd, -5, SEEK_END);
  read(fd, room, 4 * (size_t)(count - 1));
  read(fd, room, 90);
  pread(fd, room, 6 * (size_t)(count - 1), 20);
  lseek(fd, 1, SEEK_SET);
  readv(fd, in, 2);
  preadv(fd, in, 2, 25);
  preadv2(fd, in, 2, 35, 0);
  read(fd, room, 1);
  fsync(fd);
  fdatasync(fd);
  ftruncate(fd, 12);
  close(fd);
  return read(fd, room, 7) != -1;
}
