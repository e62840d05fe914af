// SPDX-License-Identifier: Apache-2.0
// Signatures of callers in rules. They are parsed once, so that a match compares two words for each frame.
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
  uint32_t frames;  // number of frames in the longest signature
};

// text: signatures with a ';' between them. The result is empty if there is no memory.
struct signatures signatures_read(const char *text);

// Whether all frames of any signature match the first of these `count` places. Innermost frame first.
bool signatures_match(const struct signatures *all, const struct code_place *places, uint32_t count);

#pragma GCC visibility pop
