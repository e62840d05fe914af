// SPDX-License-Identifier: Apache-2.0
// places_rounds CASE ROUNDS: the same is done again and again, and each page is touched. Prints the minor page faults of the last ROUNDS rounds,
// between two calls of getppid, after rounds that are not counted.
//   loop     blocks of 64 KiB, 1, 8 and 16 MiB, one after the other
//   pass     one thread allocates 1 MiB, another frees it, up to four blocks behind
//   grow     a block grows from 64 KiB to 8 MiB, by an eighth each time
//   two      two such blocks grow by turns
//   shrink   a block grows to 8 MiB, becomes smaller by an eighth, then a copy of it is freed
//   aligned  blocks of 128 KiB, 1 and 4 MiB, aligned to 16 and 64 KiB and to 2 MiB
// places_rounds grown BYTES: one block grows so to BYTES. Prints whether huge pages are forbidden in it (0 or 1), and the KiB of its mapping that are
//   resident and that are in huge pages.
// places_rounds reused 0: with 4 MiB live and blocks of 4, 6 and (with room for 12) 8 MiB freed, one of 12 MiB is allocated. Prints as `many`.
// places_rounds small 0: a block of huge pages that has grown is freed, then one grows to 100 KiB. Prints the KiB of huge pages in its mapping.
// places_rounds many BYTES COUNT: so many blocks at once. Prints the KiB that are resident in mappings with MADV_HUGEPAGE.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kPage = 4096, kKiB = 1 << 10, kMiB = 1 << 20, kWarm = 150, kQueue = 4 };

static char *queue[kQueue];
static sem_t filled, empty;

static char *touched(char *block, size_t from, size_t to) {
  if (!block) exit(3);
  for (size_t at = from; at < to; at += kPage) *(volatile char *)(block + at) = 1;
  return block;
}

static void loop(void) {
  static const size_t sizes[] = {64 * kKiB, kMiB, 8 * kMiB, 16 * kMiB};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) free(touched(malloc(sizes[i]), 0, sizes[i]));
}

static void *release(void *rounds) {
  for (long i = 0; i < (long)rounds; i++) {
    sem_wait(&filled);
    free(queue[i % kQueue]);
    sem_post(&empty);
  }
  return NULL;
}

static void pass(void) {
  static long i;
  sem_wait(&empty);
  queue[i++ % kQueue] = touched(malloc(kMiB), 0, kMiB);
  sem_post(&filled);
}

static size_t grow_once(char **block, size_t bytes, size_t most) {
  size_t more = bytes + bytes / 8 < most ? bytes + bytes / 8 : most;
  *block = touched(realloc(*block, more), bytes, more);
  return more;
}

static char *grown(size_t most) {
  size_t bytes = 64 * kKiB;
  char *block = touched(malloc(bytes), 0, bytes);
  while (bytes < most) bytes = grow_once(&block, bytes, most);
  return block;
}

static void grow(void) { free(grown(8 * kMiB)); }

static void two(void) {
  size_t bytes = 64 * kKiB;
  char *one = touched(malloc(bytes), 0, bytes), *other = touched(malloc(bytes), 0, bytes);
  while (bytes < 8 * kMiB) {
    grow_once(&one, bytes, 8 * kMiB);
    bytes = grow_once(&other, bytes, 8 * kMiB);
  }
  free(one);
  free(other);
}

static void shrink(void) { free(touched(realloc(grown(8 * kMiB), 7 * kMiB), 0, 7 * kMiB)); }

static void aligned(void) {
  free(touched(aligned_alloc(16 * kKiB, 128 * kKiB), 0, 128 * kKiB));
  free(touched(aligned_alloc(64 * kKiB, kMiB), 0, kMiB));
  free(touched(aligned_alloc(2 * kMiB, 4 * kMiB), 0, 4 * kMiB));
}

static long faults(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

static void measure(void (*once)(void), long rounds) {
  pthread_t thread;
  if (once == pass) {
    sem_init(&filled, 0, 0);
    sem_init(&empty, 0, kQueue);
    pthread_create(&thread, NULL, release, (void *)(rounds + kWarm));
  }
  for (int i = 0; i < kWarm; i++) once();
  syscall(SYS_getppid);
  long before = faults();
  for (long i = 0; i < rounds; i++) once();
  long counted = faults() - before;
  syscall(SYS_getppid);
  if (once == pass) pthread_join(thread, NULL);
  printf("%ld\n", counted);
}

struct mapping {
  uintptr_t from, to;
  long resident, huge;
  int is_huge, is_small;  // MADV_HUGEPAGE, MADV_NOHUGEPAGE
};

// The mapping with this address, or the sum of all with MADV_HUGEPAGE.
static struct mapping mapping_of(const char *at) {
  struct mapping found = {0}, now = {0};
  char line[500];
  FILE *file = fopen("/proc/self/smaps", "r");
  while (file && fgets(line, sizeof line, file)) {
    uintptr_t from, to;
    if (sscanf(line, "%lx-%lx ", &from, &to) == 2) {
      now.from = from;
      now.to = to;
      continue;
    }
    if (sscanf(line, "Rss: %ld", &now.resident) == 1 || sscanf(line, "AnonHugePages: %ld", &now.huge) == 1) continue;
    if (strncmp(line, "VmFlags:", 8) != 0) continue;
    now.is_huge = strstr(line, " hg") != NULL;
    now.is_small = strstr(line, " nh") != NULL;
    if (at && (uintptr_t)at >= now.from && (uintptr_t)at < now.to) found = now;
    if (!at && now.is_huge) found.resident += now.resident;
  }
  if (file) fclose(file);
  return found;
}

static void reuse(void) {
  char *block = touched(malloc(4 * kMiB), 0, 4 * kMiB), *behind = touched(malloc(4 * kMiB), 0, 4 * kMiB);
  free(touched(realloc(block, 8 * kMiB), 0, 8 * kMiB));
  free(touched(malloc(6 * kMiB), 0, 6 * kMiB));
  touched(malloc(12 * kMiB), 0, 12 * kMiB);
  printf("%ld\n", mapping_of(NULL).resident);
  free(behind);
}

static void grow_little(void) {
  char *large = grown(8 * kMiB);
  madvise(large, 8 * kMiB, MADV_HUGEPAGE);
  madvise(large, 8 * kMiB, MADV_DONTNEED);
  free(touched(large, 0, 8 * kMiB));
  char *block = touched(malloc(64 * kKiB), 0, 64 * kKiB), *behind = malloc(64 * kKiB);
  block = touched(realloc(block, 100 * kKiB), 0, 100 * kKiB);
  printf("%ld\n", mapping_of(block).huge);
  free(behind);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*once)(void);
  } cases[] = {{"loop", loop}, {"pass", pass}, {"grow", grow}, {"two", two}, {"shrink", shrink}, {"aligned", aligned}};
  if (argc < 3) return 2;
  size_t number = strtoul(argv[2], NULL, 0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (!strcmp(argv[1], cases[i].name)) measure(cases[i].once, (long)number);
  if (!strcmp(argv[1], "grown")) {
    struct mapping found = mapping_of(grown(number) + number / 2);
    printf("%d %ld %ld\n", found.is_small, found.resident, found.huge);
  }
  if (!strcmp(argv[1], "reused")) reuse();
  if (!strcmp(argv[1], "small")) grow_little();
  if (!strcmp(argv[1], "many") && argc > 3) {
    for (long i = 0; i < atol(argv[3]); i++) touched(malloc(number), 0, number);
    printf("%ld\n", mapping_of(NULL).resident);
  }
  return 0;
}
