// SPDX-License-Identifier: Apache-2.0
// terminals FILE: login_tty, forkpty and daemon put something else behind descriptors 0 to 2 of a child.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

int main(int count, char **arguments) {
  char bytes[8];
  int master, slave, other;
  if (count != 2) return 2;
  dup2(open(arguments[1], O_RDONLY), 0);
  read(0, bytes, 1);
  openpty(&master, &slave, NULL, NULL, NULL);
  if (fork() == 0) {
    login_tty(slave);
    write(0, "12", 2);
    _exit(0);
  }
  read(master, bytes, 8);
  wait(NULL);
  if (forkpty(&other, NULL, NULL, NULL) == 0) {
    write(0, "123", 3);
    _exit(0);
  }
  read(other, bytes, 8);
  wait(NULL);
  read(0, bytes, 4);
  if (daemon(0, 0)) return 1;
  read(0, bytes, 5);
  close(open("tmp", O_DIRECTORY));
  return 0;
}
