// SPDX-License-Identifier: Apache-2.0
// Two phases of four blocks each that never overlap, and a block that is alive all along.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kBlocks = 4, kBlock = 4 << 20, kAllAlong = 5 << 20, kPauseUs = 50000 };

static char *blocks[kBlocks];

__attribute__((noinline)) static void first_phase(void) {
  for (int i = 0; i < kBlocks; i++) blocks[i] = memset(malloc(kBlock), 1, kBlock);
}
__attribute__((noinline)) static void second_phase(void) {
  for (int i = 0; i < kBlocks; i++) blocks[i] = memset(malloc(kBlock), 2, kBlock);
}
static void end_phase(void) {
  usleep(kPauseUs);
  for (int i = 0; i < kBlocks; i++) free(blocks[i]);
}
__attribute__((noinline)) static char *all_along(void) {
  char *block = malloc(kAllAlong);
  block[0] = 1;
  return block;
}

int main(void) {
  char *block = all_along();
  first_phase();
  end_phase();
  second_phase();
  end_phase();
  free(block);
  return 0;
}
