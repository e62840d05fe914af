// SPDX-License-Identifier: Apache-2.0
// Blocks of two callers beside each other: two_sites SECONDS. All of the first caller's are touched over and over, those of the second one, which
// are larger, never again. Prints the number of blocks, and bytes of each of both.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kBlocks = 64, kBytes = 512 << 10, kLarge = 768 << 10, kPage = 4096 };
static char *hot[kBlocks], *cold[kBlocks];

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}
__attribute__((noinline)) static void add_hot(int i) {
  hot[i] = malloc(kBytes);
  memset(hot[i], 1, kBytes);
}
__attribute__((noinline)) static void add_cold(int i) {
  cold[i] = malloc(kLarge);
  memset(cold[i], 1, kLarge);
}
int main(int argc, char **argv) {
  if (argc < 2) return 2;
  for (int i = 0; i < kBlocks; i++) {
    add_hot(i);
    add_cold(i);
  }
  double until = now() + strtod(argv[1], NULL);
  while (now() < until) {
    for (int i = 0; i < kBlocks; i++)
      for (size_t at = 0; at < kBytes; at += kPage) *(volatile char *)(hot[i] + at) += 1;
  }
  printf("%d %d %d\n", kBlocks, kBytes, kLarge);
  return 0;
}
