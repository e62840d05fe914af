// SPDX-License-Identifier: Apache-2.0
// inherits FILE HOW: children use a descriptor that their parent opened. They end by _exit, exec or spawn.
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int main(int count, char **arguments) {
  char byte, number[2] = {0};
  if (count < 3) return 2;
  int fd = strcmp(arguments[2], "after") ? open(arguments[1], O_RDONLY) : arguments[1][0] - '0';
  char *again[] = {arguments[0], number, "after", NULL};
  pid_t child = 0;
  number[0] = (char)('0' + fd);
  if (!strcmp(arguments[2], "after")) return read(fd, &byte, 1) != 1;
  if (!strcmp(arguments[2], "fork") && !(child = fork()))
    _exit(read(fd, &byte, 1) != 1 || chdir("/") || open("etc", 0) < 0);
  if (!strcmp(arguments[2], "exec") && !(child = fork())) execv(arguments[0], again);
  if (!strcmp(arguments[2], "spawn") && posix_spawn(&child, arguments[0], NULL, NULL, again, environ)) return 3;
  if (!strcmp(arguments[2], "vfork") && !(child = vfork())) {
    close(fd), dup2(0, fd), read(fd, &byte, 1), close(fd);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  return read(fd, &byte, 1) != 1;
}
