// SPDX-License-Identifier: Apache-2.0
// counted SMALL MEDIUM: so many mallocs of 100 bytes and of 3000 bytes; of each a half is freed.
#include "victim.h"

static void allocate(long count, size_t bytes) {
  for (long i = 0; i < count; i++) {
    void *volatile block = malloc(bytes);
    if (i % 2) free(block);
  }
}

int main(int argc, char **argv) {
  allocate(atol(argv[1]), 100);
  allocate(atol(argv[argc - 1]), 3000);
  _exit(0);
}
