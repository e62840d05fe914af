// SPDX-License-Identifier: Apache-2.0
// COUNT blocks of 2 MiB, each with a call stack of its own, all alive at once for a while: many_sites COUNT. At most 512.
#include <stdlib.h>
#include <unistd.h>

enum { kBits = 9, kMost = 1 << kBits, kBlock = 2 << 20, kPauseUs = 300000 };

static char *blocks[kMost];
static volatile int calls;

// The bits of `number` are the way of its calls.
__attribute__((noinline)) static void allocate(int number, int bits) {
  if (!bits) {
    blocks[number] = malloc(kBlock);
  } else if (number >> (bits - 1) & 1) {
    allocate(number, bits - 1);
    calls++;
  } else {
    allocate(number, bits - 1);
    calls--;
  }
}

int main(int argc, char **argv) {
  int count = argc > 1 ? atoi(argv[1]) : 0;
  if (count < 1 || count > kMost) return 2;
  for (int number = 0; number < count; number++) allocate(number, kBits);
  usleep(kPauseUs);
  for (int number = 0; number < count; number++) free(blocks[number]);
  return 0;
}
