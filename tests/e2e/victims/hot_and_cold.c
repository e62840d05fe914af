// SPDX-License-Identifier: Apache-2.0
// Two tables, each by a function of its own. By a file it does one of two things. "dense": random dependent reads, nearly all of them in the
// second table, which huge pages make faster. "sparse": it touches one word in 2 MiB, which huge pages make slower, as the kernel clears them.
// Usage: hot_and_cold MIB READS FILE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kColdOneIn = 64, kHugeWords = (2 << 20) / sizeof(uint32_t) };

static size_t words, stride = 1;

static uint32_t *filled(uint32_t *table) {
  for (size_t i = 0; i < words; i += stride) table[i] = (uint32_t)(i * 2654435761u);
  return table;
}
__attribute__((noinline)) static uint32_t *make_first(void) { return filled(malloc(words * sizeof(uint32_t))); }
__attribute__((noinline)) static uint32_t *make_second(void) { return filled(malloc(words * sizeof(uint32_t))); }

// Not inlined, as the tables: main with a path for each would have two sites for each table.
__attribute__((noinline)) static unsigned long reads_wanted(char **argv) {
  char what[16] = "";
  FILE *file = fopen(argv[3], "r");
  if (!file || !fgets(what, sizeof what, file)) exit(3);
  fclose(file);
  if (strcmp(what, "sparse")) return strtoul(argv[2], NULL, 10);
  stride = kHugeWords;
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  words = strtoul(argv[1], NULL, 10) * (1 << 20) / sizeof(uint32_t);
  unsigned long reads = reads_wanted(argv);
  uint32_t *first = make_first(), *second = make_second();
  uint64_t at = 1;
  for (unsigned long i = reads; i; i--) {
    at = at * 6364136223846793005u + 1442695040888963407u;
    at += (i % kColdOneIn ? second : first)[(at >> 33) % words];
  }
  printf("%d\n", (int)(at & 1));
  free(first);
  free(second);
  return 0;
}
