// SPDX-License-Identifier: Apache-2.0
// descriptors FILE: copies of a descriptor, pipes, ranges that are closed, numbers that are used again.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

int __dup2(int, int), __fcntl(int, int, ...), fcntl64(int, int, ...), __pipe(int *);

int main(int count, char **arguments) {
  char byte;
  int ends[2], more[2], third[2];
  int fd = count == 2 ? open(arguments[1], O_RDONLY) : -1;
  dup2(fd, 50), __dup2(fd, 51), dup3(fd, 52, O_CLOEXEC), fcntl(fd, F_DUPFD, 53), fcntl64(fd, F_DUPFD_CLOEXEC, 54);
  __fcntl(fd, F_GETFL), fcntl(fd, F_SETFD, FD_CLOEXEC), dup2(fd, fd), dup(-1), dup2(77, 78);
  for (int copy = 50; copy <= 54; copy++) read(copy, &byte, 1);
  pipe(ends), __pipe(more), pipe2(third, O_NONBLOCK | O_CLOEXEC);
  write(ends[1], "x", 1), read(ends[0], &byte, 1), read(third[0], &byte, 1);
  close(50);
  socket(AF_UNIX, SOCK_STREAM, 0), read(50, &byte, 1);  // 50 is not open now
  close_range(51, 52, 0), dup2(ends[0], 51), fcntl(51, F_GETFD);
  close_range(60, 70, 4), closefrom(3);
  int again = open("/dev/null", O_RDONLY);
  read(again, &byte, 1);
  close(again), close(again);
  int pair[2];
  socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  return write(pair[0], "y", 1) + read(pair[1], &byte, 1) != 2;
}
