// SPDX-License-Identifier: Apache-2.0
// A heap for each rule: only its blocks have the rule's policy. Blocks of 2 MiB and more are in a range of their own. The pages of smaller
// blocks are not huge, because a huge page stays in memory as a whole even if only one small block in it is live. Under a rule without a budget,
// though, a small block that grows may take the pages of a freed one that had grown, huge ones too.
//
// The heap keeps the pages of freed blocks for later ones, up to a limit (kept.c); those that were freed first are given back to the kernel first.
// The limit is half of the peak of live bytes, plus what was given back and then needed again; at least 16 MiB, but not above the peak. It is at
// least twice the largest freed block of up to 32 MiB (as libc's trim threshold). 2 MiB are added; the sum is at most 60 MiB. Each open cache of
// freed blocks below 2 MiB (cache.h) takes 2 MiB of the 60; those beyond the first eight have 2 MiB more each.
#pragma once

#include "preload/placement/policy.h"
#include "preload/placement/window.h"
#include "runner/events/placement.h"

#pragma GCC visibility push(hidden)

// Opens the heap of rule `number` of `count`. `folder`: where a rule with the target pmem makes its file. Only at load, because it calls mbind and
// madvise. False: not possible.
bool heap_open(uint32_t number, uint32_t count, const struct mlrun_place_rule *rule, const char *folder);

// Blocks are aligned to a page at least, except memkind's. Null: no memory, or a limit is reached (the rule's budget, the file's space, the number of
// mappings that ratios may make).
void *heap_allocate(uint32_t number, size_t bytes, size_t alignment, bool zeroed);

// The same for a block of our own heaps (memkind's excluded) that will grow: it can do so in place up to `room_bytes`. The room has no pages and is
// not counted; kept pages of freed blocks make way for it as for a block.
void *heap_allocate_with_room(uint32_t number, size_t bytes, size_t room_bytes);

struct heap;

// heap_free and heap_resize require: run == live_run(block).
void heap_free(struct run *run, void *block);

// Returns the block's address, which may be a new one. Null: not possible; the block is unchanged.
void *heap_resize(struct run *run, void *block, size_t bytes);

int heap_rule(const struct heap *heap);

INLINE size_t heap_usable(const struct run *run) { return (size_t)run->pages * kPageBytes; }

// Take and release all locks of all heaps, around a fork.
void heaps_lock(void);
void heaps_unlock(void);

// Some rule has a live block.
bool heaps_have_blocks(void);

// Moves the heaps' counts to `counts` in the arena, where mlrun reads them.
void heaps_show_counts(struct mlrun_place_count *counts);

// Undoes heaps_show_counts() in a forked child: each heap counts in its own memory again, starting at the bytes of the inherited
// blocks. Pieces that a ratio has cut by then stay counted; locks of memory are not inherited. Requires: heaps_lock(), under which heaps_show_counts()
// may follow.
void heaps_hide_counts(void);

// Sets the rule's policy on a mapping that the program has made. False: not possible, which is counted as a fallback.
bool heap_place_mapping(uint32_t number, void *at, size_t bytes, enum bound_pages which);

// Counts a mapping that matched the rule and is left alone, as a fallback.
void heap_note_mapping_left_alone(uint32_t number, size_t bytes);

// Counts an allocation that matched the rule but was served by a later rule or the program's allocator.
void heap_note_fallback(uint32_t number, size_t bytes);

#pragma GCC visibility pop
