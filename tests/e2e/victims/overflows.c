// SPDX-License-Identifier: Apache-2.0
// overflows: writes one byte behind an allocated block.
#include <stdlib.h>

int main(int count, char **arguments) {
  (void)arguments;
  char *volatile block = malloc(10 * (size_t)count);
  block[10 * count] = 1;
  free(block);
}
