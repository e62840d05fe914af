// SPDX-License-Identifier: Apache-2.0
// Where memory is, by move_pages and by numa_maps: nodes WHAT BYTES. Each line: WHAT pages of node 0, 1, 2, others; policy of the mapping.
//   block     malloc, written         zeros   calloc, read        mapping  mmap, written
//   populated mmap with its pages       remapped  mmap of a quarter, written, and made larger by mremap
//   grown     realloc from 1 MiB on by an eighth              child    a block that a forked child has written again
//   MEMKIND_...   a block of that kind of memkind, written; "absent": memkind has no such memory here
//   fill      blocks of 1 MiB, BYTES in all; nodes of all their pages
//   held      the same, kept for 4 s
// Other lines:
//   freed     blocks of 1 MiB, BYTES in all, written and freed; lines of /proc/self/maps before and after. A forked child frees them too, and
//             takes and frees as many again and again
//   mappings  60,000 mappings of 64 KiB, and 1,000 once those are gone; whether another one could then be split
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kPage = 4096, kAtOnce = 512, kNodes = 4, kBlock = 1 << 20, kMost = 4096, kMappings = 60000, kSmall = 64 << 10 };

static long counts[kNodes];

static void count(const char *block, size_t bytes) {
  uintptr_t first = ((uintptr_t)block + kPage - 1) / kPage, end = ((uintptr_t)block + bytes) / kPage;
  while (first < end) {
    void *pages[kAtOnce];
    int nodes[kAtOnce];
    unsigned long n = end - first < kAtOnce ? end - first : kAtOnce;
    for (unsigned long i = 0; i < n; i++) pages[i] = (void *)((first + i) * kPage);
    if (syscall(SYS_move_pages, 0, n, pages, NULL, nodes, 0)) exit(5);
    for (unsigned long i = 0; i < n; i++) counts[nodes[i] >= 0 && nodes[i] < kNodes - 1 ? nodes[i] : kNodes - 1]++;
    first += n;
  }
}
// The policy of the mapping with this address: "prefer:1", "bind:0-1".
static void policy_of(const void *block, char *policy) {
  char line[512];
  strcpy(policy, "none");
  FILE *maps = fopen("/proc/self/numa_maps", "r");
  while (maps && fgets(line, sizeof line, maps)) {
    unsigned long start;
    char found[64];
    if (sscanf(line, "%lx %63s", &start, found) == 2 && start <= (unsigned long)block) strcpy(policy, found);
  }
  if (maps) fclose(maps);
}
static void show(const char *what, const char *block, size_t bytes) {
  char policy[64];
  count(block, bytes);
  policy_of(block + bytes / 2, policy);
  printf("%s %ld %ld %ld %ld %s\n", what, counts[0], counts[1], counts[2], counts[3], policy);
  fflush(stdout);
}
static char *written(size_t bytes, int value) {
  char *block = malloc(bytes);
  if (!block) exit(4);
  memset(block, value, bytes);
  return block;
}
static char *grown(size_t bytes) {
  size_t size = kBlock;
  char *block = written(size, 1);
  while (size < bytes) {
    size_t old = size;
    size += size / 8;
    if (size > bytes) size = bytes;
    block = realloc(block, size);
    if (!block) exit(4);
    memset(block + old, 1, size - old);
  }
  return block;
}
static void fill(size_t bytes) {
  static char *blocks[kMost];
  size_t n = bytes / kBlock < kMost ? bytes / kBlock : kMost;
  for (size_t i = 0; i < n; i++) blocks[i] = written(kBlock, 1);
  for (size_t i = 0; i + 1 < n; i++) count(blocks[i], kBlock);
  show("fill", blocks[n - 1], kBlock);
}
static char *mapped(size_t bytes, int flags) {
  char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  if (at == MAP_FAILED) exit(4);
  return at;
}
static void remapped(size_t bytes) {
  size_t old = bytes / 4;
  char *at = mapped(old, 0);
  for (size_t i = 0; i < old; i += kPage) *(size_t *)(at + i) = i;
  at = mremap(at, old, bytes, MREMAP_MAYMOVE);
  if (at == MAP_FAILED) exit(6);
  for (size_t i = 0; i < old; i += kPage)
    if (*(size_t *)(at + i) != i) exit(7);
  memset(at + old, 1, bytes - old);
  show("remapped", at, bytes);
}
static int lines_of_maps(void) {
  int lines = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  for (int c; maps && (c = getc(maps)) != EOF;) lines += c == '\n';
  if (maps) fclose(maps);
  return lines;
}
static void freed(size_t bytes) {
  static char *blocks[kMost];
  size_t n = bytes / kBlock < kMost ? bytes / kBlock : kMost;
  for (size_t i = 0; i < n; i++) blocks[i] = written(kBlock, 1);
  int before = lines_of_maps();
  pid_t child = fork();
  for (size_t i = 0; i < n; i++) free(blocks[i]);
  for (int round = 0; child == 0 && round < 40; round++) {
    for (size_t i = 0; i < n; i++) blocks[i] = malloc(kBlock);
    for (size_t i = 0; i < n; i++) free(blocks[i]);
  }
  if (child == 0) _exit(0);
  int status = 1;
  waitpid(child, &status, 0);
  printf("freed %d %d\n", before, lines_of_maps());
  if (status) exit(8);
}
static void mappings(void) {
  static char *all[kMappings];
  for (int i = 0; i < kMappings; i++) all[i] = mapped(kSmall, 0);
  for (int i = 0; i < kMappings; i++) munmap(all[i], kSmall);
  for (int i = 0; i < 1000; i++) all[i] = mapped(kSmall, 0);
  char *own = mapped(3 * kPage, 0);
  printf("mappings %d\n", mprotect(own + kPage, kPage, PROT_READ) == 0);
}
// 77: memkind is not installed.
static void memkind(const char *name, size_t bytes) {
  void *library = dlopen("libmemkind.so.0", RTLD_NOW);
  if (!library) exit(77);
  int (*check)(void *);
  void *(*allocate)(void *, size_t);
  *(void **)&check = dlsym(library, "memkind_check_available");
  *(void **)&allocate = dlsym(library, "memkind_malloc");
  void **kind = dlsym(library, name);
  if (!kind || check(*kind)) {
    printf("%s absent\n", name);
    return;
  }
  char *block = allocate(*kind, bytes);
  if (!block) exit(4);
  memset(block, 1, bytes);
  show(name, block, bytes);
}
int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const char *what = argv[1];
  size_t bytes = strtoul(argv[2], NULL, 0);
  if (!strcmp(what, "block")) show(what, written(bytes, 1), bytes);
  if (!strcmp(what, "zeros")) {
    volatile char *block = calloc(1, bytes);
    for (size_t i = 0; i < bytes; i += kPage) block[i] = block[i];
    show(what, (const char *)block, bytes);
  }
  if (!strcmp(what, "mapping")) {
    char *at = mapped(bytes, 0);
    memset(at, 1, bytes);
    show(what, at, bytes);
  }
  if (!strcmp(what, "populated")) show(what, mapped(bytes, MAP_POPULATE), bytes);
  if (!strcmp(what, "remapped")) remapped(bytes);
  if (!strcmp(what, "freed")) freed(bytes);
  if (!strcmp(what, "mappings")) mappings();
  if (!strcmp(what, "grown")) show(what, grown(bytes), bytes);
  if (!strcmp(what, "child")) {
    char *block = written(bytes, 1);
    pid_t child = fork();
    if (!child) {
      memset(block, 2, bytes);
      show(what, block, bytes);
      _exit(0);
    }
    waitpid(child, NULL, 0);
  }
  if (!strcmp(what, "fill") || !strcmp(what, "held")) fill(bytes);
  if (!strcmp(what, "held")) sleep(4);
  if (!strncmp(what, "MEMKIND_", 8)) memkind(what, bytes);
  return 0;
}
