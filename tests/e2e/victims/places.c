// SPDX-License-Identifier: Apache-2.0
// One way to use large blocks: places CASE... Prints what must be the same wherever the blocks are.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kLarge = 1 << 20 };
static char *early;

static char *filled(size_t bytes, int value) {
  char *block = malloc(bytes);
  if (block) memset(block, value, bytes);
  return block;
}
static int holds(const char *block, size_t bytes, int value) {
  for (size_t i = 0; i < bytes; i++)
    if (block[i] != value) return 0;
  return 1;
}

__attribute__((constructor)) static void before_main(void) { early = filled(kLarge, 7); }
__attribute__((destructor)) static void after_main(void) {
  char *late = filled(3 * kLarge, 8);
  late = realloc(late, 5 * kLarge);
  if (!late || !holds(late, 3 * kLarge, 8)) write(2, "late block is wrong\n", 20);
  free(late);
}

static void *free_there(void *block) {
  if (!holds(block, kLarge, 3)) puts("wrong contents");
  free(block);
  return NULL;
}
// The thread that frees has never allocated.
static void foreign(void) {
  for (int i = 0; i < 30; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, free_there, filled(kLarge, 3));
    pthread_join(thread, NULL);
  }
}

static void nothing(void) {
  void *block = malloc(0), *zeros = calloc(0, 100), *grown = realloc(malloc(0), kLarge);
  printf("malloc(0) %d, calloc(0) %d, usable %d\n", block != NULL, zeros != NULL, malloc_usable_size(block) < 4096);
  free(block);
  free(zeros);
  errno = 0;
  block = realloc(grown, 0);
  printf("realloc(block, 0) %d errno %d\n", block != NULL, errno);
  errno = 0;
  volatile size_t too_much = SIZE_MAX / 2;
  block = malloc(too_much);
  printf("malloc(too much) %d errno %d\n", block != NULL, errno);
  errno = 0;
  zeros = calloc(too_much, 3);
  printf("calloc(overflow) %d errno %d\n", zeros != NULL, errno);
  grown = filled(kLarge, 9);
  errno = 0;
  block = realloc(grown, too_much);
  printf("realloc(too much) %d errno %d kept %d\n", block != NULL, errno, holds(grown, kLarge, 9));
  volatile size_t beyond = 1ul << 46;
  block = malloc(beyond);
  printf("malloc(64 TiB) %d\n", block != NULL);
  free(block);
  if (!block && realloc(grown, beyond)) puts("realloc(64 TiB) 1");
  errno = 77;
  free(grown);
  printf("errno behind free %d\n", errno);
}

static void aligned(void) {
  int wrong = 0, wasteful = 0;
  for (size_t alignment = 8; alignment <= 4 << 20; alignment *= 2)
    for (size_t size = 65535; size < 5 << 20; size = size * 4 + 1) {
      void *made = NULL,
           *blocks[5] = {memalign(alignment, size), aligned_alloc(alignment, size), valloc(size), pvalloc(size), NULL};
      if (posix_memalign(&made, alignment, size)) wrong++;
      blocks[4] = made;
      size_t needed[5] = {alignment, alignment, 4096, 4096, alignment};
      for (int i = 0; i < 5; i++) {
        if (!blocks[i] || (uintptr_t)blocks[i] % needed[i]) wrong++;
        if (malloc_usable_size(blocks[i]) < size) wrong++;
        if (malloc_usable_size(blocks[i]) > size + alignment + 8192) wasteful++;
        memset(blocks[i], 1, size);
      }
      for (int i = 0; i < 5; i++) free(blocks[i]);
    }
  void *made = &wrong;
  printf("wrong %d wasteful %d, posix_memalign(3) %d\n", wrong, wasteful, posix_memalign(&made, 3, kLarge));
}

static void forks(void) {
  char *block = filled(8 * kLarge, 1);
  pid_t child = fork();
  if (!child) {
    int same = holds(block, 8 * kLarge, 1);
    memset(block, 2, 8 * kLarge);
    block = realloc(block, 12 * kLarge);
    same &= holds(block, 8 * kLarge, 2);
    free(block);
    free(early);
    exit(same ? 0 : 9);
  }
  int status;
  waitpid(child, &status, 0);
  printf("child %d, parent's block %d\n", status, holds(block, 8 * kLarge, 1));
  free(block);
}

static void *allocate(void *over) {
  unsigned seed = 1;
  while (!*(volatile int *)over) free(realloc(filled(65536 + (size_t)rand_r(&seed) % 300000, 1), 500000));
  return NULL;
}
// Forks while threads hold the allocator's locks; the children allocate.
static void busy_forks(void) {
  int over = 0, bad = 0;
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, allocate, &over);
  for (int i = 0; i < 60; i++) {
    pid_t child = fork();
    if (!child) {
      alarm(20);
      free(realloc(filled(kLarge, 1), 3 * kLarge));
      _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    bad += status != 0;
  }
  over = 1;
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  printf("children that hung or died %d\n", bad);
}

// A filter that kills for everything but what libc's allocator, write and exit need.
static void confined(void) {
  static const int allowed[] = {SYS_mmap,       SYS_munmap,     SYS_mremap, SYS_madvise,
                                SYS_mprotect,   SYS_brk,        SYS_futex,  SYS_write,
                                SYS_exit_group, SYS_newfstatat, SYS_fstat,  SYS_rt_sigprocmask};
  enum { kCount = sizeof allowed / sizeof *allowed };
  struct sock_filter filter[2 * kCount + 2] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
  for (int i = 0; i < kCount; i++) {
    filter[1 + 2 * i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i], 0, 1);
    filter[2 + 2 * i] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  filter[2 * kCount + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  struct sock_fprog program = {2 * kCount + 2, filter};
  puts("confined");
  fflush(stdout);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) exit(77);
  char *blocks[64];
  int wrong = 0;
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < 64; i++) blocks[i] = filled((size_t)(i + 1) * 60000, i);
    for (int i = 0; i < 64; i++) blocks[i] = realloc(blocks[i], (size_t)(i + 1) * 90000);
    for (int i = 0; i < 64; i++) {
      wrong += !blocks[i] || !holds(blocks[i], (size_t)(i + 1) * 60000, i);
      free(blocks[i]);
    }
  }
  printf("wrong %d\n", wrong);
  fflush(stdout);
  _exit(0);
}

// How many MiB there are under a limit.
static void limited(int what, const char *name) {
  struct rlimit limit = {200 << 20, 200 << 20};
  setrlimit(what, &limit);
  char *blocks[200];
  int count = 0, wrong = 0;
  while (count < 200 && (blocks[count] = filled(kLarge, count % 100))) count++;
  for (int i = 0; i < count; i++) {
    wrong += !holds(blocks[i], kLarge, i % 100);
    free(blocks[i]);
  }
  char *again = filled((size_t)count / 2 * kLarge, 1);
  printf("%s: most of 200 MiB %d, error %d, wrong %d, half again in one %d\n", name, count > 150, errno == ENOMEM,
         wrong, again != NULL);
}

static size_t data_bytes(void) {
  char line[200];
  size_t kib = 0;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && !kib && fgets(line, sizeof line, file))
    if (sscanf(line, "VmData: %zu", &kib) != 1) kib = 0;
  if (file) fclose(file);
  return kib << 10;
}

// Blocks of one and of several mappings (NumPy's advice makes them) grow while there is data for a part of a second copy: what fails loses nothing.
static void advised(void) {
  enum { kMiB = 1 << 20, kBlock = 64 * kMiB };
  struct rlimit before, limit;
  int wrong = 0;
  getrlimit(RLIMIT_DATA, &before);
  for (int is_advised = 0; is_advised < 2; is_advised++) {
    for (size_t room = 16; room <= 144; room += 32) {
      char *block = filled(kBlock, 3), *behind = filled(4 * kMiB, 4);
      char *second = (char *)(((uintptr_t)block + 4096) & ~(uintptr_t)4095);
      if (is_advised && madvise(second, kBlock - 8192, MADV_DONTDUMP)) wrong++;
      limit = (struct rlimit){data_bytes() + room * kMiB, before.rlim_max};
      setrlimit(RLIMIT_DATA, &limit);
      char *grown = realloc(block, 2 * kBlock);
      setrlimit(RLIMIT_DATA, &before);
      if (grown) block = grown;
      wrong += !holds(block, kBlock, 3) + !holds(behind, 4 * kMiB, 4);
      free(block);
      free(behind);
    }
  }
  printf("wrong %d\n", wrong);
}

static void locked(void) {
  struct rlimit limit = {200 << 20, 200 << 20};
  char *before = filled(kLarge, 1);
  if (setrlimit(RLIMIT_MEMLOCK, &limit) || setgid(65534) || setuid(65534)) exit(77);
  int failed = mlockall(MCL_CURRENT | MCL_FUTURE);
  char *block = filled(30 * kLarge, 2), *small = filled(100000, 3);
  int same = holds(block, 30 * kLarge, 2) && holds(small, 100000, 3);
  free(block);
  block = calloc(30, kLarge);
  printf("mlockall %d, blocks %d, zeros %d\n", failed, same, holds(block, 30 * kLarge, 0));
  errno = 0;
  block = malloc(200 << 20);
  printf("too much %d errno %d\n", block != NULL, errno);
  free(before);
}

// What a program does to its own blocks must not reach others.
static void protects(void) {
  char *blocks[8];
  for (int i = 0; i < 8; i++) blocks[i] = aligned_alloc(4096, kLarge);
  for (int i = 0; i < 8; i++) mprotect(blocks[i] + 4096, 8192, PROT_NONE);
  char *others = filled(20 * kLarge, 4);
  for (int i = 0; i < 8; i++) mprotect(blocks[i] + 4096, 8192, PROT_READ | PROT_WRITE);
  for (int i = 0; i < 8; i++) blocks[i] = realloc(blocks[i], 4 * kLarge);
  for (int i = 0; i < 8; i++) memset(blocks[i], i, 4 * kLarge);
  int good = holds(others, 20 * kLarge, 4);
  for (int i = 0; i < 8; i++) {
    good &= holds(blocks[i], 4 * kLarge, i);
    free(blocks[i]);
  }
  printf("good %d\n", good);
}

static void known(void) {  // 21 blocks of 64 KiB and more, 5 of which are alive at the end
  static char *kept[5];
  for (int i = 0; i < 10; i++) free(filled(65536, 1));
  for (int i = 0; i < 5; i++) free(filled(65535, 1));
  for (int i = 0; i < 5; i++) kept[i] = filled(65536 + (size_t)i, 1);
  for (int i = 0; i < 5; i++) free(calloc(100, 1000));
  printf("%d\n", kept[4] != NULL);
}

static void use(const char *what) {
  if (!strcmp(what, "foreign")) foreign();
  if (!strcmp(what, "nothing")) nothing();
  if (!strcmp(what, "aligned")) aligned();
  if (!strcmp(what, "forks")) forks();
  if (!strcmp(what, "busy_forks")) busy_forks();
  if (!strcmp(what, "confined")) confined();
  if (!strcmp(what, "address_space")) limited(RLIMIT_AS, what);
  if (!strcmp(what, "data")) limited(RLIMIT_DATA, what);
  if (!strcmp(what, "advised")) advised();
  if (!strcmp(what, "locked")) locked();
  if (!strcmp(what, "protects")) protects();
  if (!strcmp(what, "known")) known();
}

int main(int argc, char **argv) {
  if (!early || !holds(early, kLarge, 7)) puts("early block is wrong");
  for (int i = 1; i < argc; i++) use(argv[i]);
  free(early);
  return 0;
}
