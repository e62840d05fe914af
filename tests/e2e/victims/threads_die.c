// SPDX-License-Identifier: Apache-2.0
// threads_die FILE THREADS COUNT: threads that each pread COUNT numbered bytes and end by return, by pthread_exit or
// detached, a few at a time, one wave after the other.
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static long calls;
static int fd;

static void *work(void *number) {
  char byte;
  for (long i = 0; i < calls; i++) pread(fd, &byte, 1, i);
  if ((long)number % 2) pthread_exit(NULL);
  return NULL;
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  fd = open(arguments[1], O_RDONLY);
  calls = atol(arguments[3]);
  for (long made = 0; made < atol(arguments[2]); made += 4) {
    pthread_t threads[4];
    for (long i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  }
}
