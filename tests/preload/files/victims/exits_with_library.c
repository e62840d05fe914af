// SPDX-License-Identifier: Apache-2.0
// exits_with_library: 7 bytes wait in stdout when the process ends, which flushes_late.c flushes.
#include <stdio.h>

void flushes_late(void);

int main(void) {
  flushes_late();
  return printf("waiting") != 7;
}
