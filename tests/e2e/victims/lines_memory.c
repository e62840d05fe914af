// SPDX-License-Identifier: Apache-2.0
// lines_memory FOLDER: the lines of the allocation family. Nothing else allocates between the marks.
#define _GNU_SOURCE
#include <malloc.h>

#include "lines.h"

void cfree(void *);
__asm__(".symver cfree, cfree@GLIBC_2.2.5");  // programs may no longer link it; old ones call it
// C23: if libc lacks them, a program gets those of the preloaded library.
void free_sized(void *, size_t) __attribute__((weak)), free_aligned_sized(void *, size_t, size_t) __attribute__((weak));

enum { kBytes = 5000 };
static void *volatile blocks[20];
static void *volatile block;

int main(int count, char **arguments) {
  if (count != 2 || chdir(arguments[1])) return 2;
  int kept = 0;
  LINE(malloc, 2, (blocks[kept++] = malloc(kBytes)) != NULL);
  LINE(calloc, 2, (blocks[kept++] = calloc(1, kBytes)) != NULL);
  LINE(realloc, 2, (blocks[n] = realloc(blocks[n], 2 * kBytes)) != NULL);
  LINE(reallocarray, 2, (blocks[n] = reallocarray(blocks[n], 3, kBytes)) != NULL);
  LINE(posix_memalign, 2, posix_memalign((void **)&block, 64, kBytes) == 0 && (blocks[kept++] = block));
  LINE(aligned_alloc, 2, (blocks[kept++] = aligned_alloc(64, 128 * 64)) != NULL);
  LINE(memalign, 2, (blocks[kept++] = memalign(64, kBytes)) != NULL);
  LINE(valloc, 2, (blocks[kept++] = valloc(kBytes)) != NULL);
  LINE(pvalloc, 2, (blocks[kept++] = pvalloc(kBytes)) != NULL);
  LINE(free, 2, (free(blocks[--kept]), true));
  LINE(cfree, 2, (cfree(blocks[--kept]), true));
  if (free_sized) LINE(free_sized, 2, (free_sized(blocks[--kept], kBytes), true));
  if (free_aligned_sized) LINE(free_aligned_sized, 2, (free_aligned_sized(blocks[--kept], 64, kBytes), true));
  return 0;
}
