// SPDX-License-Identifier: Apache-2.0
// Keys for hash maps over numbers that come from the spool. A bijective mix with a random number drawn at start, so
// that no spool can be crafted to cause collisions. The number differs in each run: stored data and its order must not
// depend on it.
#pragma once

#include <sys/random.h>

#include <cstdint>

namespace mlrun::util {

inline uint64_t scrambled(uint64_t key) {
  static const uint64_t kSeed = [] {
    uint64_t drawn = 0;
    if (::getrandom(&drawn, sizeof drawn, GRND_NONBLOCK) != sizeof drawn) drawn = 0x6c62272e07bb0142;
    return drawn;
  }();
  key = (key ^ kSeed) * 0xbf58476d1ce4e5b9u;
  key = (key ^ key >> 31) * 0x94d049bb133111ebu;
  key ^= key >> 29;
  return key != 0 ? key : 1;  // maps use 0 for "empty"
}

inline uint64_t scrambled(uint64_t first, uint64_t second) { return scrambled(scrambled(first) ^ second); }

}  // namespace mlrun::util
