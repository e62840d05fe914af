// SPDX-License-Identifier: Apache-2.0
// The id of a string: a 64-bit hash of its bytes, the same in every process and every run. 0 is never an id: it means
// "no string". Not for hostile input: a collision only gives two paths one name.
#pragma once

#include "runner/events/types.h"

static inline __u64 mlrun_hash_mix(__u64 state, __u64 word) {
  state = (state ^ word) * 0x9fb21c651e98df25ull;
  return state ^ state >> 32;
}

// The bytes from `at` on, fewer than eight, as one little-endian word. If eight readable bytes end there, one load
// reads them.
static inline __u64 mlrun_hash_rest(const char *text, __u64 bytes, __u64 at) {
  __u64 word = 0;
  if (at && at < bytes) {
    __builtin_memcpy(&word, text + bytes - 8, 8);
    return word >> 8 * (8 - (bytes - at));
  }
  for (__u64 i = at; i < bytes; i++) word |= (__u64)(unsigned char)text[i] << 8 * (i - at);
  return word;
}

// Hashes `bytes` bytes at `text`: the length first, then little-endian words of eight, the last one padded with zeros.
static inline __u64 mlrun_content_hash(const char *text, __u64 bytes) {
  __u64 state = mlrun_hash_mix(0x2545f4914f6cdd1dull, bytes), word;
  __u64 at = 0;
  for (; at + 8 <= bytes; at += 8) {
    __builtin_memcpy(&word, text + at, 8);
    state = mlrun_hash_mix(state, word);
  }
  word = mlrun_hash_rest(text, bytes, at);
  state = mlrun_hash_mix(state, word);
  state = mlrun_hash_mix(state, state >> 29);
  return state ? state : 1;
}
