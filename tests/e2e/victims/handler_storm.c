// SPDX-License-Identifier: Apache-2.0
// handler_storm FILE COUNT: pread of COUNT numbered bytes while a 20 kHz timer's handler does lseek to its own numbers.
// Prints how many calls the handler made.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static volatile long handled;
static int fd;

static void on_alarm(int signal) {
  (void)signal;
  lseek(fd, handled++, SEEK_SET);
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  fd = open(arguments[1], O_RDONLY);
  signal(SIGALRM, on_alarm);
  struct itimerval every = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &every, NULL);
  char byte;
  for (long i = 0; i < atol(arguments[2]); i++) pread(fd, &byte, 1, i);
  setitimer(ITIMER_REAL, &never, NULL);
  printf("%ld\n", handled);
}
