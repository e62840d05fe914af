// SPDX-License-Identifier: Apache-2.0
// Signatures of callers in rules, read once: a comparison of two words a frame.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runner/events/placement.h"

#pragma GCC visibility push(hidden)

// A caller: the first 8 bytes of its library's build id, and the offset in the library.
struct code_place {
  uint64_t id, offset;
};

struct signatures {
  const struct signature *first;
  uint32_t count;
  uint32_t frames;  // of the longest
};

// text: signatures with a ';' between them. None if there is no memory.
struct signatures signatures_read(const char *text);

// Whether one of them is how these places begin, the innermost first.
bool signatures_match(const struct signatures *all, const struct code_place *places, uint32_t count);

#pragma GCC visibility pop
