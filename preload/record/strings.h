// SPDX-License-Identifier: Apache-2.0
// Strings in records are ids (runner/events/content_hash.h). The first record of a process that uses a string carries
// the string's definition in the same reservation, so that neither is lost alone:
//
//   size_t more;
//   uint64_t id = string_prepare(text, bytes, &more);    more: size of its definition, 0: already written
//   uint64_t *w = reserve(more + 64, kind, &lap);
//   if (more) string_write(w, lap, id, text, bytes);
//   ... the record at w + more / 8, published ...
//   if (more) string_emitted(id);
//
// The ids that a process has written are cached in pages that the kernel wipes in a forked child. When the cache is
// full a definition is written again, which a reader ignores.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/compiler.h"

#pragma GCC visibility push(hidden)

enum {
  kStringMaxBytes = 4096,
  // For names of GPU kernels, which templates make long. A definition of this size and the record after it fit in one
  // reservation of 16 KiB (recorder.h).
  kLongStringMaxBytes = 12288,
  // Ends of the three tables of known ids in the wiped pages (channel.h); the last is left out where the address space
  // is limited.
  kStringPagesFirstBytes = 4096,
  kStringPagesFewBytes = 36864,
  kStringPagesBytes = 561152,
  kStringWays = 8,
  kStringBucketBytes = kStringWays * 8,
  kStringFirstBuckets = kStringPagesFirstBytes / kStringBucketBytes - 1
};

// The first table, from attach() on.
extern uint64_t *first_string_ids;

// The id of `bytes` bytes at `text` (at most kStringMaxBytes, longer texts are cut). *record_bytes: what to reserve for
// its definition, a multiple of 16.
uint64_t string_prepare(const char *text, size_t bytes, size_t *record_bytes);

// Writes and publishes the definition at `at`, which has the *record_bytes of string_prepare.
void string_write(uint64_t *at, uint8_t lap, uint64_t id, const char *text, size_t bytes);

// The same for texts of up to kLongStringMaxBytes.
uint64_t long_string_prepare(const char *text, size_t bytes, size_t *record_bytes);
void long_string_write(uint64_t *at, uint8_t lap, uint64_t id, const char *text, size_t bytes);

// Must be called once the definition is published. Any thread, any signal handler.
void string_emitted(uint64_t id);

bool string_is_in_later_tables(uint64_t id);

// Whether the definition of an id is written, without its text. Only while recording.
INLINE bool string_is_emitted(uint64_t id) {
  const uint64_t *bucket = first_string_ids + ((id >> 32) * kStringFirstBuckets >> 32) * kStringWays;
  for (int way = 0; way < kStringWays; way++) {
    uint64_t there = __atomic_load_n(&bucket[way], __ATOMIC_RELAXED);
    if (there == id) return true;
    if (!there) return false;
  }
  return string_is_in_later_tables(id);
}

#pragma GCC visibility pop
