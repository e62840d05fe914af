// SPDX-License-Identifier: Apache-2.0
// jumps_out FILE ROUNDS: a 1 kHz signal handler leaves by siglongjmp out of pread, malloc-free code between; counts
// preads that finished. Afterwards 1000 numbered ones follow undisturbed.
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static sigjmp_buf out;
static void leave(int signal) { siglongjmp(out, signal); }

int main(int count, char **arguments) {
  if (count != 3) return 2;
  int fd = open(arguments[1], O_RDONLY);
  volatile long jumps = 0, rounds = atol(arguments[2]);
  struct itimerval every = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
  char page[4096];
  signal(SIGALRM, leave);
  setitimer(ITIMER_REAL, &every, NULL);
  if (sigsetjmp(out, 1)) jumps++;
  while (jumps < rounds) pread(fd, page, sizeof page, 0);
  setitimer(ITIMER_REAL, &never, NULL);
  for (long i = 0; i < 1000; i++) pread(fd, page, 1, i);
  printf("%ld jumps\n", jumps);
}
