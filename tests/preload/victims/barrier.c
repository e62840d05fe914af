// SPDX-License-Identifier: Apache-2.0
// barrier N: N threads pread, meet, and pread again. With fewer segments than threads each waits for what another one
// holds.
#include "victim.h"

static int fd, passed;
static pthread_barrier_t barrier;

static void *run(void *argument) {
  read_often(fd, 1);
  pthread_barrier_wait(&barrier);
  read_often(fd, 1);
  __sync_fetch_and_add(&passed, 1);
  return argument;
}

int main(int argc, char **argv) {
  int count = atoi(argv[argc - 1]);
  pthread_t threads[256];
  fd = open_zero();
  pthread_barrier_init(&barrier, 0, (unsigned)count);
  for (int i = 0; i < count; i++) pthread_create(&threads[i], 0, run, 0);
  for (int i = 0; i < count; i++) pthread_join(threads[i], 0);
  dprintf(1, "passed=%d\n", passed);
}
