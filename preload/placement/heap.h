// SPDX-License-Identifier: Apache-2.0
// A heap for each rule: its blocks have the rule's policy, and nothing else has. Blocks of 2 MiB and more are apart from smaller
// ones, whose pages are never huge: a huge page under a small block would be paid for by 30 others that are not there.
//
// Freed blocks keep their pages up to a limit, for the next ones; the oldest are given back first. The limit is half of the most that
// was alive, and all of it up to 16 MiB or where pages that were given back were needed again; or twice the largest freed block of up to 32 MiB (as
// libc's); at least 2 and at most 60 MiB. Of blocks below 2 MiB threads have some more at hand, up to 2 MiB in each cache (cache.h), within the 60 MiB.
#pragma once

#include "preload/placement/window.h"
#include "runner/events/placement.h"

#pragma GCC visibility push(hidden)

// Opens the heap of rule `number` of `count`; `folder`: of its file. At load: calls mbind and madvise. False: not possible.
bool heap_open(uint32_t number, uint32_t count, const struct mlrun_place_rule *rule, const char *folder);

// Page-aligned at least, but for memkind's. Null: no memory, or a limit is reached (the rule's budget, the file, a ratio's mappings).
void *heap_allocate(uint32_t number, size_t bytes, size_t alignment, bool zeroed);

struct heap;

// Requires for all: run == live_run(block).
void heap_free(struct run *run, void *block);

// Null: not possible; the block is as it was.
void *heap_resize(struct run *run, void *block, size_t bytes);

int heap_rule(const struct heap *heap);

INLINE size_t heap_usable(const struct run *run) { return (size_t)run->pages * kPageBytes; }

// Around a fork.
void heaps_lock(void);
void heaps_unlock(void);

// From now on the counts are where mlrun reads them.
void heaps_show_counts(struct mlrun_place_count *counts);

// In a forked child, with the locks: its counts begin with the blocks that it has inherited.
void heaps_hide_counts(void);

// A mapping of the program's own gets the rule's policy.
void heap_place_mapping(uint32_t number, void *at, size_t bytes);

// A call by this rule that became libc's.
void heap_note_fallback(uint32_t number, size_t bytes);

#pragma GCC visibility pop
