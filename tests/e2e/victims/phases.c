// SPDX-License-Identifier: Apache-2.0
// Two phases of four blocks each that never overlap, and a block that is alive all along: phases [TURNS]. With TURNS the phases alternate as often,
// with short pauses.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kBlocks = 4, kBlock = 4 << 20, kAllAlong = 5 << 20, kPauseUs = 50000, kShortUs = 100 };

static char *blocks[kBlocks];

__attribute__((noinline)) static void first_phase(void) {
  for (int i = 0; i < kBlocks; i++) blocks[i] = memset(malloc(kBlock), 1, 1);
}
__attribute__((noinline)) static void second_phase(void) {
  for (int i = 0; i < kBlocks; i++) blocks[i] = memset(malloc(kBlock), 2, 1);
}
static void end_phase(useconds_t pause_us) {
  usleep(pause_us);
  for (int i = 0; i < kBlocks; i++) free(blocks[i]);
}
__attribute__((noinline)) static char *all_along(void) {
  char *block = malloc(kAllAlong);
  block[0] = 1;
  return block;
}

int main(int argc, char **argv) {
  char *block = all_along();
  unsigned long turns = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
  useconds_t pause_us = turns ? kShortUs : kPauseUs;
  unsigned long turn = 0;
  do {
    first_phase();
    end_phase(pause_us);
    second_phase();
    end_phase(pause_us);
  } while (++turn < turns);
  free(block);
  return 0;
}
