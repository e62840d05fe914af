// SPDX-License-Identifier: Apache-2.0
// Each function of the allocation family once, with sizes of its own. Prints the addresses.
#include "victim.h"

static void tell(const char *name, void *block) {
  dprintf(1, "%s=%ld %s_usable=%zu\n", name, (long)block, name, malloc_usable_size(block));
}

static volatile size_t huge = SIZE_MAX / 2;

int main(void) {
  void *block, *volatile grown;
  tell("malloc", block = malloc(2001)), free(block);
  tell("big", block = malloc(300001)), free(block);
  tell("calloc", block = calloc(3, 1001)), free(block);
  tell("before", block = malloc(2002)), tell("realloc", grown = realloc(block, 2000003)),
      tell("reallocarray", grown = reallocarray(grown, 7, 701));
  block = realloc(grown, 0);
  tell("null", grown = realloc(0, 6001)), free(grown);
  block = posix_memalign((void **)&grown, 64, 7001) ? 0 : grown, tell("posix_memalign", block), free(block);
  tell("aligned_alloc", block = aligned_alloc(256, 8192)), free(block);
  tell("memalign", block = memalign(128, 9001)), free(block);
  tell("valloc", block = valloc(10001)), free(block);
  tell("pvalloc", block = pvalloc(11001)), free(block);
  free(0);
  errno = 0;
  grown = reallocarray(0, huge, 3);
  dprintf(1, "overflow=%d failed=%d\n", errno, grown == 0 && !calloc(huge, 3) && !malloc(huge));
}
