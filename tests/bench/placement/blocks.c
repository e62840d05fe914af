// SPDX-License-Identifier: Apache-2.0
// What large blocks cost in the allocator of this process. Usage: blocks loop|pair|pass|grow|again|turns|keep|small BYTES
//   small  malloc and free without a touch          loop  one thread allocates, touches each page, frees
//   pair   two threads do                            pass  one thread allocates and touches, another frees
//   grow   realloc by an eighth, from 64 KiB to 64 MiB, new pages touched
//   again  the same to 8 MiB, then free, again and again      turns  two blocks do so by turns
//   keep   512 MiB of blocks of 64 KiB to 4 MiB, touched, then freed
// Prints nanoseconds, wall and CPU; of keep resident / asked at the peak, and the MiB that stay.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

// The first lines of pages are no good place to touch page after page: on some processors (Intel Xeon, 2025) that takes 28 or 65 us for 4,096
// pages, in plain mappings too, by turns; the middle takes 28. libc's blocks lie anywhere in a page, ours at its begin.
enum { kPage = 4096, kMiddle = 2048, kQueue = 16, kWarm = 3, kMost = 20000, kBlocks = 2048 };

struct work {
  size_t bytes;
  long count;
  pthread_barrier_t *together;
  double ns;
};
static _Atomic(char *) queue[kQueue];

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
static double cpu(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
static void *take(size_t bytes, size_t first) {
  char *block = malloc(bytes);
  if (!block) exit(4);
  for (size_t at = first; at < bytes; at += kPage) *(volatile char *)(block + at) = 1;
  return block;
}
static void *loop(void *argument) {
  struct work *w = argument;
  for (int i = 0; i < kWarm; i++) free(take(w->bytes, kMiddle));
  if (w->together) pthread_barrier_wait(w->together);
  double start = now();
  for (long i = 0; i < w->count; i++) free(take(w->bytes, kMiddle));
  w->ns = (now() - start) / (double)w->count;
  return NULL;
}
static void *release(void *argument) {
  const struct work *w = argument;
  for (long i = 0; i < w->count; i++) {
    char *block;
    while (!(block = atomic_exchange(&queue[i % kQueue], NULL))) sched_yield();
    free(block);
  }
  return NULL;
}
static void pair(struct work *w) {
  pthread_barrier_t together;
  pthread_barrier_init(&together, NULL, 2);
  struct work other = *w;
  other.together = w->together = &together;
  pthread_t thread;
  pthread_create(&thread, NULL, loop, &other);
  loop(w);
  pthread_join(thread, NULL);
  w->ns = (w->ns + other.ns) / 2;
}
static void pass(struct work *w) {
  w->count /= 4;
  pthread_t thread;
  pthread_create(&thread, NULL, release, w);
  double start = now();
  for (long i = 0; i < w->count; i++) {
    char *block = take(w->bytes, kMiddle);
    while (atomic_load(&queue[i % kQueue])) sched_yield();
    atomic_store(&queue[i % kQueue], block);
  }
  pthread_join(thread, NULL);
  w->ns = (now() - start) / (double)w->count;
}
static void grow(struct work *w) {
  double start = now();
  long steps = 0;
  for (int round = 0; round < 5; round++) {
    size_t bytes = 64 << 10;
    char *block = take(bytes, 0);
    for (; bytes < 64 << 20; steps++) {
      size_t old = bytes;
      bytes += bytes / 8;
      block = realloc(block, bytes);
      if (!block) exit(4);
      for (size_t at = old; at < bytes; at += kPage) *(volatile char *)(block + at) = 1;
    }
    free(block);
  }
  w->ns = (now() - start) / (double)steps;
  w->count = steps;
}
static void grow_by_turns(struct work *w, int count) {
  enum { kRounds = 50 };
  char *block[2];
  double start = 0;
  for (int round = -kWarm; round < kRounds; round++) {
    if (!round) start = now();
    size_t bytes = 64 << 10;
    for (int i = 0; i < count; i++) block[i] = take(bytes, 0);
    while (bytes < 8 << 20) {
      size_t old = bytes;
      bytes += bytes / 8;
      for (int i = 0; i < count; i++) {
        block[i] = realloc(block[i], bytes);
        if (!block[i]) exit(4);
        for (size_t at = old; at < bytes; at += kPage) *(volatile char *)(block[i] + at) = 1;
      }
    }
    for (int i = 0; i < count; i++) free(block[i]);
  }
  w->count = kRounds * count;
  w->ns = (now() - start) / (double)w->count;
}
static void small(struct work *w) {
  w->count = 5000000;
  double start = now();
  for (long i = 0; i < w->count; i++) {
    void *volatile block = malloc(w->bytes);
    free(block);
  }
  w->ns = (now() - start) / (double)w->count;
}
static double resident_mib(void) {
  long size = 0, pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &size, &pages) != 2) exit(5);
  fclose(file);
  return (double)pages / 256;
}
static void keep(void) {
  static char *blocks[kBlocks];
  double before = resident_mib(), asked = 0;
  uint64_t random = 12345;
  int count = 0;
  for (; asked < 512 && count < kBlocks; count++) {
    random = random * 6364136223846793005u + 1;
    size_t bytes = (64 << 10) + (random >> 33) % (1u << (16 + (random >> 60) % 7));
    blocks[count] = take(bytes, 0);
    asked += (double)bytes / 1048576;
  }
  double peak = resident_mib() - before;
  for (int i = 0; i < count; i++) free(blocks[i]);
  printf("%.4f %.1f\n", peak / asked, resident_mib() - before);
}
int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const char *what = argv[1];
  struct work w = {.bytes = strtoul(argv[2], NULL, 0)};
  w.count = (long)(4e9 / (double)(w.bytes ? w.bytes : 1));
  if (w.count > kMost) w.count = kMost;
  if (!strcmp(what, "keep")) {
    keep();
    return 0;
  }
  double start = cpu();
  if (!strcmp(what, "small")) {
    small(&w);
  } else if (!strcmp(what, "loop")) {
    loop(&w);
  } else if (!strcmp(what, "pair")) {
    pair(&w);
  } else if (!strcmp(what, "pass")) {
    pass(&w);
  } else if (!strcmp(what, "grow")) {
    grow(&w);
  } else if (!strcmp(what, "again")) {
    grow_by_turns(&w, 1);
  } else if (!strcmp(what, "turns")) {
    grow_by_turns(&w, 2);
  } else {
    return 2;
  }
  double threads = strcmp(what, "pair") ? 1 : 2;
  printf("%.1f %.1f\n", w.ns, (cpu() - start) / (double)w.count / threads);
  return 0;
}
