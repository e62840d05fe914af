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

struct mlrun_place_cache;

// Memory where mlrun reads what a cache of this rule counts. Null: there is none left, or this process is not counted.
struct mlrun_place_cache *take_cache_counts(uint32_t rule);

// A rule has placed a mapping: mlrun asks where its pages are.
void note_mapping(uint32_t rule, const void *at, size_t bytes);

#pragma GCC visibility pop
