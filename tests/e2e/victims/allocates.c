// SPDX-License-Identifier: Apache-2.0
// allocates COUNT: three threads call each function of the allocation family COUNT times and free the blocks, half of them in
// another thread. Prints what the blocks held.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kThreads = 3 };

static long rounds, sums[kThreads];
static void *passed_on[kThreads];

static void free_later(long thread, void *block) {
  free(__atomic_exchange_n(&passed_on[thread], block, __ATOMIC_ACQ_REL));
}

static void *work(void *number) {
  long me = (long)number, sum = 0;
  for (long i = 0; i < rounds; i++) {
    unsigned char *plain = malloc(777), *zeroed = calloc(7, 111), *aligned = aligned_alloc(64, 1984), *page = NULL;
    if (posix_memalign((void **)&page, 4096, 4000)) exit(3);
    memset(plain, (int)i, 777);
    zeroed[(size_t)i % 777] = 1;
    aligned[0] = page[3999] = 2;
    plain = realloc(plain, 3333);
    plain = reallocarray(plain, 11, 431);
    for (int at = 0; at < 777; at += 111)
      sum += plain[at] + zeroed[at] + ((size_t)aligned % 64) + ((size_t)page % 4096);
    free_later((me + 1) % kThreads, plain);
    free_later(me, zeroed);
    free(aligned);
    free(page);
  }
  sums[me] = sum;
  return NULL;
}

int main(int count, char **arguments) {
  rounds = count == 2 ? atol(arguments[1]) : 0;
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, work, (void *)i);
  for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  printf("%ld %ld %ld\n", sums[0], sums[1], sums[2]);
}
