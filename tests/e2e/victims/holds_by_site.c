// SPDX-License-Identifier: Apache-2.0
// Blocks of three callers, all written: holds_by_site SECONDS. 8 blocks of 4 MiB and 6 of 8 MiB are there for SECONDS;
// then the first 8 are freed, a third caller takes 8 of 4 MiB, and all are there for as long again.
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kFew = 6, kMany = 8, kBlock = 4 << 20 };
static char *volatile early[kMany], *volatile held[kFew], *volatile late[kMany];

static void wait_for(double seconds) {
  struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  nanosleep(&time, NULL);
}
__attribute__((noinline)) static void add_early(int i) {
  early[i] = malloc(kBlock);
  memset(early[i], 1, kBlock);
}
__attribute__((noinline)) static void add_held(int i) {
  held[i] = malloc(2 * kBlock);
  memset(held[i], 1, 2 * kBlock);
}
__attribute__((noinline)) static void add_late(int i) {
  late[i] = malloc(kBlock);
  memset(late[i], 1, kBlock);
}
int main(int argc, char **argv) {
  double seconds = argc > 1 ? strtod(argv[1], NULL) : 0;
  for (int i = 0; i < kMany; i++) add_early(i);
  for (int i = 0; i < kFew; i++) add_held(i);
  wait_for(seconds);
  for (int i = 0; i < kMany; i++) free(early[i]);
  for (int i = 0; i < kMany; i++) add_late(i);
  wait_for(seconds);
  return 0;
}
