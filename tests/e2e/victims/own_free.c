// SPDX-License-Identifier: Apache-2.0
// own_free: a program that counts its frees by a free of its own in front of libc's (COUNTS_ALL: with malloc, calloc and realloc), frees
// blocks that libc's other functions have allocated, and maps 8 MiB. Prints what they held, and how many frees were
// counted for a block that goes to free_sized, if there is one.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { kBytes = 2 << 20, kMapped = 8 << 20 };

void __libc_free(void *block);
static long frees;
void free(void *block) {
  frees += block != NULL;
  __libc_free(block);
}

#ifdef COUNTS_ALL
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t each);
void *__libc_realloc(void *old, size_t size);
void *malloc(size_t size) { return __libc_malloc(size); }
void *calloc(size_t count, size_t each) { return __libc_calloc(count, each); }
void *realloc(void *old, size_t size) { return __libc_realloc(old, size); }
#endif

static void free_by_size(char *block) {
  void (*by_size)(void *, size_t) = (void (*)(void *, size_t))dlsym(RTLD_DEFAULT, "free_sized");
  if (by_size)
    by_size(block, kBytes);
  else
    free(block);
}

int main(void) {
  char *plain = malloc(kBytes), *aligned = aligned_alloc(4096, kBytes), *posix = NULL;
  if (posix_memalign((void **)&posix, 4096, kBytes)) return 1;
  memset(plain, 1, kBytes);
  memset(aligned, 2, kBytes);
  memset(posix, 3, kBytes);
  plain = reallocarray(plain, 2, kBytes);
  char *mapped = mmap(NULL, kMapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(mapped, 4, kMapped);
  int sum = plain[kBytes - 1] + aligned[kBytes - 1] + posix[kBytes - 1] + mapped[kMapped - 1];
  free(plain);
  free(aligned);
  free(posix);
  char *sized = malloc(kBytes);
  long before = frees;
  free_by_size(sized);
  printf("%d, frees %d, by size %ld\n", sum, before >= 3, frees - before);
}
