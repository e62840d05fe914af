// SPDX-License-Identifier: Apache-2.0
// Blocks of two callers beside each other: two_sites SECONDS [TIMES [MIB]]. All of the first caller's are touched over and over, those of the second
// one, which are larger, never again. TIMES: as many times larger, and fewer (default: 1). MIB: size of one more block, of a third caller, of which
// no page is touched (default: 0, none). Prints the number of blocks, and bytes of each of both.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kBlocks = 64, kPage = 4096 };
static int blocks = kBlocks;
static size_t bytes = 512 << 10, large = 768 << 10;
static char *hot[kBlocks], *cold[kBlocks];
static char *volatile untouched;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}
__attribute__((noinline)) static void add_hot(int i) {
  hot[i] = malloc(bytes);
  memset(hot[i], 1, bytes);
}
__attribute__((noinline)) static void add_cold(int i) {
  cold[i] = malloc(large);
  memset(cold[i], 1, large);
}
__attribute__((noinline)) static void add_untouched(size_t mib) { untouched = malloc(mib << 20); }
int main(int argc, char **argv) {
  int times = argc > 2 ? atoi(argv[2]) : 1;
  if (argc < 2 || times < 1 || times > kBlocks) return 2;
  blocks /= times;
  bytes *= (size_t)times;
  large *= (size_t)times;
  if (argc > 3) add_untouched(strtoul(argv[3], NULL, 10));
  for (int i = 0; i < blocks; i++) {
    add_hot(i);
    add_cold(i);
  }
  double until = now() + strtod(argv[1], NULL);
  while (now() < until) {
    for (int i = 0; i < blocks; i++)
      for (size_t at = 0; at < bytes; at += kPage) *(volatile char *)(hot[i] + at) += 1;
  }
  printf("%d %zu %zu\n", blocks, bytes, large);
  return 0;
}
