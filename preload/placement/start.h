// SPDX-License-Identifier: Apache-2.0
// The rules, from the arena that the environment names.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "preload/base/compiler.h"

#pragma GCC visibility push(hidden)

// Reads the rules and opens a heap for each, once. Before libc knows the environment nothing happens, and a later call does it.
void start_placement(void);

extern bool counts_are_shown;
void show_counts(void);

// A rule fits a block for the first time in this process: mlrun gets to see its counts from now on.
INLINE void note_first_block(void) {
  if (unlikely(!__atomic_load_n(&counts_are_shown, __ATOMIC_RELAXED))) show_counts();
}

// A rule has placed a mapping: mlrun asks where its pages are.
void note_mapping(uint32_t rule, const void *at, size_t bytes);

#pragma GCC visibility pop
