// SPDX-License-Identifier: Apache-2.0
// Threads allocate, resize and free blocks of all sizes around the threshold, each others' too; every block holds a pattern that is
// checked before it changes hands. Usage: storm ROUNDS THREADS [fork]: with fork each thread's blocks go on in children too.
// Prints "bad=N misaligned=N" and ends with 1 if either is not 0.
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kShared = 64, kLargest = 6 << 20 };
struct block {
  unsigned char *at;
  size_t size;
  unsigned char mark;
};
static struct block shared[kShared];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_long bad, misaligned;
static long rounds;

static void fill(struct block *b) {
  for (size_t i = 0; i < b->size; i += 509) b->at[i] = b->mark;
  if (b->size) b->at[b->size - 1] = b->mark;
}
static void check(const struct block *b, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 509)
    if (b->at[i] != b->mark) {
      bad++;
      return;
    }
  if (bytes == b->size && bytes && b->at[bytes - 1] != b->mark) bad++;
}
static size_t some_size(unsigned *seed) {
  unsigned bits = rand_r(seed) % 23;
  return ((size_t)rand_r(seed) & ((1u << bits) - 1)) % kLargest;
}
static void make(struct block *b, unsigned *seed) {
  b->size = some_size(seed);
  b->mark = (unsigned char)rand_r(seed);
  size_t alignment = 0;
  switch (rand_r(seed) % 6) {
    case 0:
      b->at = calloc(1, b->size);
      for (size_t i = 0; b->at && i < b->size; i++) bad += b->at[i] != 0;
      break;
    case 1: b->at = aligned_alloc(alignment = 64u << rand_r(seed) % 12, b->size); break;
    case 2:
      if (posix_memalign((void **)&b->at, alignment = 8u << rand_r(seed) % 15, b->size)) b->at = NULL;
      break;
    default: b->at = malloc(b->size); break;
  }
  if (!b->at) {
    bad++;
    b->size = 0;
    return;
  }
  if (alignment && (uintptr_t)b->at % alignment) misaligned++;
  if (malloc_usable_size(b->at) < b->size) bad++;
  fill(b);
}
static void resize(struct block *b, unsigned *seed) {
  size_t size = rand_r(seed) % 3 ? b->size + b->size / 8 + 1 : some_size(seed) + 1;
  if (size > 4u * kLargest) size = 1;
  unsigned char *at = realloc(b->at, size);
  if (!at) {
    bad++;
    return;
  }
  b->at = at;
  size_t kept = size < b->size ? size : b->size;
  check(b, kept < b->size ? kept / 509 * 509 : kept);
  b->size = size;
  fill(b);
}
static void *work(void *argument) {
  unsigned seed = (unsigned)(size_t)argument;
  struct block own[24] = {{0}};
  for (long i = 0; i < rounds; i++) {
    struct block *b = &own[rand_r(&seed) % 24];
    if (!b->at) {
      make(b, &seed);
    } else if (rand_r(&seed) % 4 == 0) {
      resize(b, &seed);
    } else {
      check(b, b->size);
      pthread_mutex_lock(&lock);
      struct block *other = &shared[rand_r(&seed) % kShared], mine = *b;
      *b = *other;
      *other = mine;
      pthread_mutex_unlock(&lock);
      if (b->at) check(b, b->size);
      if (rand_r(&seed) % 2) {
        free(b->at);
        b->at = NULL;
      }
    }
  }
  for (int i = 0; i < 24; i++) free(own[i].at);
  return NULL;
}
static int storm(int threads) {
  pthread_t t[16];
  for (int i = 0; i < threads; i++) pthread_create(&t[i], NULL, work, (void *)(size_t)(i + 1));
  for (int i = 0; i < threads; i++) pthread_join(t[i], NULL);
  return bad || misaligned;
}
int main(int argc, char **argv) {
  rounds = argc > 1 ? atol(argv[1]) : 2000;
  int threads = argc > 2 ? atoi(argv[2]) : 4;
  int failed = storm(threads);
  if (argc > 3) {
    pid_t child = fork();
    if (!child) _exit(storm(threads));
    int status;
    failed |= storm(threads);
    waitpid(child, &status, 0);
    failed |= status != 0;
  }
  printf("bad=%ld misaligned=%ld\n", bad, misaligned);
  return failed;
}
