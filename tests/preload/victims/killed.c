// SPDX-License-Identifier: Apache-2.0
// killed TENTHS: a child's four threads count their preads in shared memory; the child is killed after TENTHS / 10 ms.
#include "victim.h"

static volatile long (*done)[8];  // one a thread, each in a cache line of its own
static int fd;

static void *run(void *number) {
  for (long i = 1; fd; i++) {
    pread(fd, &(char){0}, 1, i);
    done[(long)number][0] = i;
    if (i % 16 == 0) free(malloc(3000));
  }
  return number;
}

int main(int argc, char **argv) {
  pthread_t thread;
  fd = open_zero();
  done = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pid_t child = fork();
  for (long i = 1; !child && i < 4; i++) pthread_create(&thread, 0, run, (void *)i);
  if (!child) run(0);
  usleep(1000 + atoi(argv[argc - 1]) * 100);
  kill(child, SIGKILL);
  waitpid(child, 0, 0);
  dprintf(1, "finished=%ld\n", done[0][0] + done[1][0] + done[2][0] + done[3][0]);
}
