// SPDX-License-Identifier: Apache-2.0
// asks_sizes FILE: blocks of many sizes by each function of the allocation family, all of them live at once, then freed. FILE gets
// a line for each: the size asked for, and the bytes that the allocator says the block has.
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

enum { kBlocks = 600, kForms = 6 };

static void *blocks[kBlocks];
static size_t asked[kBlocks];

static void *allocated(int form, size_t size) {
  void *block = NULL;
  switch (form) {
    case 0: return malloc(size);
    case 1: return calloc(1, size);
    case 2: return realloc(malloc(7), size);
    case 3: return posix_memalign(&block, 4096, size) ? NULL : block;
    case 4: return memalign(256, size);
  }
  return aligned_alloc(64, (size + 63) / 64 * 64);
}

int main(int count, char **arguments) {
  FILE *file = count == 2 ? fopen(arguments[1], "w") : NULL;
  if (!file) return 2;
  for (int i = 0; i < kBlocks; i++) {
    asked[i] = i % 50 == 49 ? (size_t)i << 14 : (size_t)i * (size_t)i % 60000 + 1;  // some are mappings of their own
    blocks[i] = allocated(i % kForms, asked[i]);
    if (!blocks[i]) return 3;
  }
  for (int i = 0; i < kBlocks; i++) fprintf(file, "%p %zu\n", blocks[i], malloc_usable_size(blocks[i]));
  for (int i = 0; i < kBlocks; i++) free(blocks[i]);
  return fclose(file);
}
