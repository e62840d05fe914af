// SPDX-License-Identifier: Apache-2.0
// The random numbers of a fuzzed run: the same seed makes the same calls.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { kStringsMax = 4 };

struct dice {
  uint64_t state;
  char *path;   // the last path that was made: outputs may overlap it
  int strings;  // that have been made for the call
  char *starts[kStringsMax], *ends[kStringsMax];
};

static inline uint64_t roll(struct dice *d) {
  uint64_t z = d->state += 0x9e3779b97f4a7c15ull;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return z ^ z >> 31;
}

static inline size_t below(struct dice *d, size_t end) { return roll(d) % end; }

#define ANY_OF(d, ...) ((const long[]){__VA_ARGS__}[below(d, sizeof((const long[]){__VA_ARGS__}) / sizeof(long))])
