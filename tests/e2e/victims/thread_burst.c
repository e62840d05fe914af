// SPDX-License-Identifier: Apache-2.0
// thread_burst FILE THREADS ROUNDS: THREADS threads begin to read at the same moment, ROUNDS times; each reads 20 times.
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { kReads = 20, kStackBytes = 65536 };

static pthread_barrier_t all_there;
static int fd;

static void *reads(void *unused) {
  char bytes[100];
  (void)unused;
  pthread_barrier_wait(&all_there);
  for (int i = 0; i < kReads; i++) pread(fd, bytes, sizeof bytes, i);
  return NULL;
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  int threads = atoi(arguments[2]), rounds = atoi(arguments[3]);
  fd = open(arguments[1], O_RDONLY);
  pthread_t *made = malloc((size_t)threads * sizeof *made);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_barrier_init(&all_there, NULL, (unsigned)threads);
  for (int round = 0; round < rounds; round++) {
    for (int i = 0; i < threads; i++)
      if (pthread_create(&made[i], &attributes, reads, NULL)) return 3;
    for (int i = 0; i < threads; i++) pthread_join(made[i], NULL);
  }
  return 0;
}
