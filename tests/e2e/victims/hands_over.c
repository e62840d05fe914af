// SPDX-License-Identifier: Apache-2.0
// hands_over ROUNDS THREADS: each thread allocates a block, lays it in one of a few places that all share, and frees what
// lay there, so that blocks of the same sizes go round among the threads. Says what was issued, and which blocks are left.
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { kPlaces = 16 };
static const size_t kSizes[] = {777, 5003, 20011};
static _Atomic(void *) places[kPlaces];
static atomic_long mallocs, frees;
static long rounds;

static void *work(void *number) {
  unsigned state = (unsigned)(long)number * 2654435761u + 1;
  for (long i = 0; i < rounds; i++) {
    state = state * 1664525 + 1013904223;
    void *block = malloc(kSizes[(state >> 8) % 3]);
    mallocs++;
    void *old = atomic_exchange(&places[state >> 28], block);
    if (!old) continue;
    free(old);
    frees++;
  }
  return NULL;
}

int main(int count, char **arguments) {
  pthread_t threads[64];
  if (count != 3) return 2;
  rounds = atol(arguments[1]);
  long number = atol(arguments[2]);
  for (long i = 0; i < number; i++) pthread_create(&threads[i], NULL, work, (void *)i);
  for (long i = 0; i < number; i++) pthread_join(threads[i], NULL);
  printf("%ld %ld", mallocs, frees);
  for (int i = 0; i < kPlaces; i++)
    if (places[i]) printf(" %lu", (unsigned long)places[i]);
  puts("");
  return 0;
}
