// SPDX-License-Identifier: Apache-2.0
// The rules, from the arena that the environment names.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/compiler.h"

#pragma GCC visibility push(hidden)

// Reads the rules and opens a heap for each, once. No effect before libc has set the environment; then a later call does it.
void start_placement(void);

// The pid of the process whose memory this is: another one than the caller's in a child that shares it (vfork). 0: unknown.
uint32_t owner_of_memory(void);
enum { kProgramNameBytes = 256 };
extern char program_name[kProgramNameBytes];  // file name of argv[0] at load

extern bool counts_are_shown;
void show_counts(void);

// Called when a rule matches a call. The first time in this process, moves the counts to the arena, where mlrun reads them.
INLINE void note_first_block(void) {
  if (unlikely(!__atomic_load_n(&counts_are_shown, __ATOMIC_RELAXED))) show_counts();
}

// The usable size of a block of ours or of the program's allocator. SIZE_UNKNOWN: that allocator has no malloc_usable_size.
size_t size_if_known(void *block);

struct mlrun_place_cache;

// Memory in the arena for the counts of one cache of this rule. Null: none is left (is_further: half are in use), or the arena had no room for this
// process's counts.
struct mlrun_place_cache *take_cache_counts(uint32_t rule, bool is_further);

// Records a mapping that a rule has placed, so that mlrun can ask the kernel on which nodes its pages are.
void note_mapping(uint32_t rule, const void *at, size_t bytes);

// To be called before addresses get another mapping, or none: mlrun no longer asks for pages there. Returns the rule of the mapping that
// was recorded there, or kNoRule.
int forget_mapping(const void *at, size_t bytes);

// To be called after the kernel has moved a mapping or changed its size.
void move_mapping(const void *from, size_t bytes_before, const void *at, size_t bytes);

#pragma GCC visibility pop
