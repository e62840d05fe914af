// SPDX-License-Identifier: Apache-2.0
// A hot and a cold table, each by a function of its own: random dependent reads, nearly all of them in the hot one. Which one that is, is in
// a file. Usage: hot_and_cold MIB READS FILE (which holds "first" or "second")
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kColdOneIn = 64, kPage = 4096 };

static size_t words;

static uint32_t *filled(uint32_t *table) {
  for (size_t i = 0; i < words; i++) table[i] = (uint32_t)(i * 2654435761u);
  return table;
}
__attribute__((noinline)) static uint32_t *make_first(void) { return filled(malloc(words * sizeof(uint32_t))); }
__attribute__((noinline)) static uint32_t *make_second(void) { return filled(malloc(words * sizeof(uint32_t))); }

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  words = strtoul(argv[1], NULL, 10) * (1 << 20) / sizeof(uint32_t);
  char which[16] = "";
  FILE *file = fopen(argv[3], "r");
  if (!file || !fgets(which, sizeof which, file)) return 3;
  fclose(file);
  uint32_t *first = make_first(), *second = make_second();
  int swap = !strncmp(which, "second", 6);
  const uint32_t *hot = swap ? second : first, *cold = swap ? first : second;
  uint64_t at = 1;
  for (unsigned long i = strtoul(argv[2], NULL, 10); i; i--) {
    at = at * 6364136223846793005u + 1442695040888963407u;
    at += (i % kColdOneIn ? hot : cold)[(at >> 33) % words];
  }
  printf("%d\n", (int)(at & 1));
  free(first);
  free(second);
  return 0;
}
