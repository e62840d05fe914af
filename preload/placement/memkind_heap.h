// SPDX-License-Identifier: Apache-2.0
// Rules with `heap memkind`: their blocks are memkind's, in a region of the rule's budget that is bound here and handed to
// memkind_create_fixed. For comparison with the heap of ours: memkind gives no page back before the process ends, and all threads share one
// lock here, so that a fork finds it free. libmemkind.so.0 is loaded only if there is such a rule, with the libraries that it needs, when
// this library's constructor runs: blocks of earlier constructors are the allocator's.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct heap;

// Opens the heaps of all such rules, if memkind is there. At load, from the constructor: calls dlopen. Before the handlers of forks are
// registered: memkind's own handlers have to run behind ours.
void memkind_begin(void);

// From this library's destructor on: memkind's own, which takes all kinds away, runs soon. Blocks stay as they are, and are not freed.
void memkind_end(void);

// Whose block it is; null: not memkind's.
struct heap *memkind_heap_of(const void *block);

// As heap.h has them.
void *memkind_allocate(struct heap *heap, size_t bytes, size_t alignment, bool zeroed);
void *memkind_resize(struct heap *heap, void *block, size_t bytes);
void memkind_release(struct heap *heap, void *block);
// 0: memkind has ended, and it is unknown.
size_t memkind_usable(const struct heap *heap, void *block);

// How many bytes from the block on may be read: its own, or, when memkind has ended, also what is behind it.
size_t memkind_readable(const struct heap *heap, void *block);

#pragma GCC visibility pop
