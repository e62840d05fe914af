// SPDX-License-Identifier: Apache-2.0
// hooks_descriptors FILE: every hooked call that makes, closes or maps descriptors, once each; reads through each of
// the copies.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int count, char **arguments) {
  char bytes[8];
  int ends[2], more[2];
  if (count != 2) return 2;
  int fd = open(arguments[1], O_RDONLY);
  int copies[] = {dup(fd), dup2(fd, 20), dup3(fd, 21, O_CLOEXEC), fcntl(fd, F_DUPFD, 30),
                  fcntl(fd, F_DUPFD_CLOEXEC, 40)};
  for (int i = 0; i < 5; i++) read(copies[i], bytes, 3);
  pipe(ends);
  pipe2(more, O_NONBLOCK);
  write(ends[1], "12345", 5);
  read(ends[0], bytes, 8);
  read(more[0], bytes, 8);
  dup2(ends[0], 20);
  close(ends[1]);
  read(20, bytes, 8);
  void *map = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, fd, 4096);
  munmap(map, 8192);
  munmap(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
  close_range(30, 35, 0);
  close(copies[0]);
  closefrom(3);
  return close(fd) != -1;
}
