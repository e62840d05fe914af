// SPDX-License-Identifier: Apache-2.0
// A library whose function `work` allocates BYTES by way of a function of a name of its own, NAME.
#include <stdlib.h>

__attribute__((noinline)) void NAME(void) {
  void *volatile block = malloc(BYTES);
  free(block);
}

void work(void) {
  NAME();
  __asm__ volatile("" ::: "memory");
}
