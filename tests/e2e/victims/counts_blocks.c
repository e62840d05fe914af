// SPDX-License-Identifier: Apache-2.0
// A library in front of libc that counts the blocks that a program issues_*, or the shell, allocates and frees, for all
// callers, in the file that COUNTS_BLOCKS names: {allocations, frees}. It calls libc's allocator past every hook.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), __libc_free(void *);

static long *counts;

static __attribute__((constructor)) void begin(void) {
  const char *path = getenv("COUNTS_BLOCKS");
  const char *name = program_invocation_short_name;
  if (!path || (strncmp(name, "issues_", 7) && strcmp(name, "sh"))) return;
  int fd = open(path, O_RDWR);
  counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
}

static void *counted(void *block) {
  if (counts && block) __atomic_add_fetch(&counts[0], 1, __ATOMIC_RELAXED);
  return block;
}

void *malloc(size_t bytes) { return counted(__libc_malloc(bytes)); }
void *calloc(size_t number, size_t bytes) { return counted(__libc_calloc(number, bytes)); }
void *realloc(void *block, size_t bytes) { return counted(__libc_realloc(block, bytes)); }

void free(void *block) {
  if (counts && block) __atomic_add_fetch(&counts[1], 1, __ATOMIC_RELAXED);
  __libc_free(block);
}
