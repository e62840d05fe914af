// SPDX-License-Identifier: Apache-2.0
// sampled COUNT: COUNT allocations of sizes that follow from their numbers, by every function in turn, on two threads;
// of each ten in a row three stay. The test makes the same sizes.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static long blocks;

static size_t size_of(long number) {
  uint64_t mixed = (uint64_t)number * 0x9e3779b97f4a7c15u;
  return 1 + (mixed >> 40) % ((size_t)64 << (mixed >> 61));
}

static void *work(void *argument) {
  void *volatile block = NULL;
  for (long i = (long)argument; i < blocks; i += 2) {
    size_t size = size_of(i);
    if (i % 5 == 0) block = calloc(1, size);
    if (i % 5 == 1 && posix_memalign((void **)&block, 64, size)) abort();
    if (i % 5 == 2) block = malloc(size);
    if (i % 5 == 3) block = aligned_alloc(32, size);
    if (i % 5 == 4) block = realloc(NULL, size);
    if (i % 10 < 7) free(block);
  }
  return NULL;
}

int main(int count, char **arguments) {
  pthread_t second;
  if (count != 2) return 2;
  blocks = atol(arguments[1]);
  pthread_create(&second, NULL, work, (void *)1);
  work((void *)0);
  pthread_join(second, NULL);
  return 0;
}
