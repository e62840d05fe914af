// SPDX-License-Identifier: Apache-2.0
// Memory that is touched in a known way: touches WHAT MIB SECONDS
//   random   of two blocks of MIB each, the first at random in each tenth of a second, 10 % of its pages at most; the second never again
//   remote   the same, filled by processor 1 and touched by processor 0
//   hot      64 KiB of a block, without pause and without entering the kernel; the rest never again
//   turning  the second tenth of a block at random, with the translations dropped every millisecond
//   written  each third page of a block, over and over; all of them are read
//   growing  nothing of a block, while a page is mapped behind it each half second
//   huge     one byte in each tenth huge page of a block
//   reused   blocks of MIB by two callers in turn, at addresses that are used again; a line for each: caller address begin_ns end_ns pages
//   beside   the same, while another thread's calls of realloc copy and take long
//   child    a block that a forked child touches again, page by page
// First line of the others: addresses of the hot and the cold block, and the moment when they were filled (CLOCK_MONOTONIC). At the end: pages touched in a window of a second, touches.
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kPage = 4096, kHuge = 2 << 20 };
static uint64_t state = 1, touches;

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}
static uint64_t random_number(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 20;
}
static void touch(char *at) {
  *(volatile char *)at += 1;
  touches++;
}
static char *filled(size_t bytes, int advice) {
  char *block = aligned_alloc(kHuge, bytes);
  if (!block) exit(4);
  madvise(block, bytes, advice);
  memset(block, 1, bytes);
  return block;
}
static void move_to(const char *what, int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (!strcmp(what, "remote") && sched_setaffinity(0, sizeof set, &set)) exit(5);
}
static __attribute__((noinline)) char *first_caller(size_t bytes) { return malloc(bytes); }
static __attribute__((noinline)) char *second_caller(size_t bytes) { return malloc(bytes); }

static void *copying(void *until) {
  while (now_ns() < *(uint64_t *)until) {
    char *block = malloc(700 << 10), *behind;
    if (!block) exit(4);
    memset(block, 1, 700 << 10);
    behind = malloc(100 << 10);  // so that the first one cannot grow where it is
    block = realloc(block, 1400 << 10);
    free(behind);
    free(block);
  }
  return NULL;
}

static void reused(size_t bytes, uint64_t until, int threshold) {
  mallopt(M_MMAP_THRESHOLD, threshold);  // each block of this thread is a new mapping
  for (int turn = 0; now_ns() < until; turn++) {
    size_t size = bytes - (size_t)(random_number() % 8) * kPage;
    uint64_t began = now_ns();
    char *block = turn % 2 ? second_caller(size) : first_caller(size);
    if (!block) exit(4);
    long pages = 0;
    for (size_t at = 0; at < size; at += kPage, pages++) block[at] = (char)turn;
    uint64_t ended = now_ns();
    free(block);
    printf("%d %lu %lu %lu %ld\n", turn % 2, (unsigned long)block, (unsigned long)began, (unsigned long)ended, pages);
  }
}

// The kernel merges each new page with the block.
static void growing(size_t bytes, uint64_t until) {
  enum { kMore = 4096 };
  const int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS;
  char *block = mmap(NULL, bytes + kMore * kPage, PROT_NONE, kPrivate, -1, 0);
  if (block == MAP_FAILED || mmap(block, bytes, PROT_READ | PROT_WRITE, kPrivate | MAP_FIXED, -1, 0) != block) exit(4);
  memset(block, 1, bytes);
  printf("%lu %lu %lu\n", (unsigned long)block, (unsigned long)(block + bytes), (unsigned long)now_ns());
  fflush(stdout);
  for (char *at = block + bytes; now_ns() < until; at += kPage) {
    usleep(500000);
    if (mmap(at, kPage, PROT_READ | PROT_WRITE, kPrivate | MAP_FIXED, -1, 0) != at) exit(4);
    touch(at);
  }
  printf("0 %lu\n", (unsigned long)touches);
}

static void touch_once(const char *what, char *hot, char *cold, size_t pages, uint64_t turn, uint64_t *touched) {
  static uint8_t seen[1 << 20];
  size_t tenth = pages / 10;
  if (!strcmp(what, "random") || !strcmp(what, "remote")) {  // the same tenth of the pages in every window
    for (size_t i = 0; i < tenth; i++) {
      size_t page = random_number() % tenth * 10;
      touch(hot + page * kPage + random_number() % kPage);
      if (!seen[page]) (*touched)++;
      seen[page] = 1;
    }
  } else if (!strcmp(what, "hot")) {
    for (int i = 0; i < 1000; i++)
      for (size_t at = 0; at < 64 << 10; at += kPage) touch(hot + at);
    *touched = (64 << 10) / kPage;
  } else if (!strcmp(what, "turning")) {
    for (int i = 0; i < 3000; i++) touch(hot + (tenth + random_number() % tenth) * kPage);
    // A change of many pages makes the kernel drop all translations.
    mprotect(cold, 64 * kPage, turn % 2 ? PROT_READ : PROT_READ | PROT_WRITE);
    *touched = tenth;
  } else if (!strcmp(what, "written")) {
    *touched = 0;
    for (size_t page = 0; page < pages; page++) {
      volatile char *at = hot + page * kPage;
      if (page % 3 == 0) *at = 3, (*touched)++;
      (void)*at;
    }
  } else if (!strcmp(what, "huge")) {
    *touched = 0;
    for (size_t at = 0; at < pages * kPage; at += 10 * (size_t)kHuge) touch(hot + at), (*touched)++;
    usleep(1000);
  }
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  const char *what = argv[1];
  size_t bytes = strtoul(argv[2], NULL, 0) << 20, pages = bytes / kPage;
  uint64_t seconds_ns = (uint64_t)(strtod(argv[3], NULL) * 1e9);
  if (!strcmp(what, "reused")) {
    reused(bytes, now_ns() + seconds_ns, 128 << 10);
    return 0;
  }
  if (!strcmp(what, "growing")) {
    growing(bytes, now_ns() + seconds_ns);
    return 0;
  }
  if (!strcmp(what, "beside")) {
    uint64_t until = now_ns() + seconds_ns;
    pthread_t thread;
    if (pthread_create(&thread, NULL, copying, &until)) exit(6);
    reused(bytes, until, 1500 << 10);
    pthread_join(thread, NULL);
    return 0;
  }
  move_to(what, 1);
  char *hot = filled(bytes, strcmp(what, "huge") ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
  char *cold = filled(bytes, MADV_NOHUGEPAGE);
  madvise(cold, bytes, MADV_RANDOM);  // a mapping of its own
  move_to(what, 0);
  uint64_t touched = 0;
  printf("%lu %lu %lu\n", (unsigned long)hot, (unsigned long)cold, (unsigned long)now_ns());
  fflush(stdout);
  if (!strcmp(what, "child")) {
    pid_t child = fork();
    if (!child) {
      for (size_t at = 0; at < bytes; at += kPage) touch(hot + at);
      usleep(300000);
      _exit(0);
    }
    waitpid(child, NULL, 0);
    return 0;
  }
  uint64_t until = now_ns() + seconds_ns;
  for (uint64_t turn = 0; now_ns() < until; turn++) {
    touch_once(what, hot, cold, pages, turn, &touched);
  }
  printf("%lu %lu\n", (unsigned long)touched, (unsigned long)touches);
  free(cold);
  free(hot);
  return 0;
}
