// SPDX-License-Identifier: Apache-2.0
// idle_threads THREADS FILE: so many threads, each of which reads FILE once, makes and frees a block, and does nothing from
// then on. Writes "idle" to stdout when all of them are there, and ends when stdin does.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kBlock = 4096, kStackBytes = 1 << 18 };

static const char *path;
static pthread_barrier_t all_there;

static void *idle(void *nothing) {
  char data[16];
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || read(fd, data, sizeof data) < 0 || close(fd) != 0) abort();
  free(malloc(kBlock));
  pthread_barrier_wait(&all_there);
  for (;;) pause();
  return nothing;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: idle_threads THREADS FILE\n");
    return 2;
  }
  int threads = atoi(argv[1]);
  path = argv[2];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_barrier_init(&all_there, NULL, (unsigned)threads + 1);
  for (int i = 0; i < threads; i++) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, idle, NULL) != 0) abort();
  }
  pthread_barrier_wait(&all_there);
  puts("idle");
  fflush(stdout);
  return getchar() == EOF ? 0 : 1;
}
