// SPDX-License-Identifier: Apache-2.0
// A string for a record: paths that the program passed, and names that the kernel reports.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/core/recorder.h"

#pragma GCC visibility push(hidden)

// All zero: no string (id 0).
struct text {
  const char *at;
  size_t bytes;
  uint64_t id;
  size_t definition_bytes;  // 0: this process has written the definition
  char *page;               // scratch page with the text, or null
};

// A path argument of the program. proven: a plain load may read it (program_memory.h); else it is copied. All zero: it
// cannot be read.
struct text text_of_argument(const char *path, bool proven);

// A path in memory of this library.
struct text text_of_own(const char *path);

struct text text_of_descriptor(int fd);       // the target of /proc/self/fd/N
struct text text_of_working_directory(void);  // working_directory.c caches its id

void text_release(struct text *text);

// True for paths that are resolved from a directory: those without a leading slash, and the empty path of AT_EMPTY_PATH.
static inline bool text_is_relative(const struct text *text) {
  return text->id && !(text->bytes && text->at[0] == '/');
}

// Reserves `bytes` behind the definitions of `count` texts, which are written and published. Null: all are dropped.
uint64_t *reserve_with_definitions(struct text *const *texts, int count, uint32_t bytes, uint32_t kind, uint8_t *lap);

// The same, with a fast path if no text is new, which is nearly always.
INLINE uint64_t *reserve_with_texts(struct text *const *texts, int count, uint32_t bytes, uint32_t kind, uint8_t *lap) {
  size_t definitions = 0;
  for (int i = 0; i < count; i++) definitions |= texts[i]->definition_bytes;
  return likely(!definitions) ? reserve(bytes, kind, lap) : reserve_with_definitions(texts, count, bytes, kind, lap);
}

#pragma GCC visibility pop
