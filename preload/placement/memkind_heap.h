// SPDX-License-Identifier: Apache-2.0
// Rules with `heap memkind`: memkind makes their blocks, in a region as large as the rule's budget that is bound here and passed to
// memkind_create_fixed. It is for comparison with our own heap: memkind gives no page back before the process ends, and all threads share
// the heap's lock, so that no thread is inside memkind during a fork. This library's constructor loads libmemkind.so.0 and the libraries that it
// needs, only if there is such a rule: what earlier constructors allocate comes from the program's allocator.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct heap;

// Opens the heaps of all such rules, if memkind can be loaded. Only from the constructor, because it calls dlopen, and before our fork handlers are
// registered: handlers registered later run first before a fork and last after it, so ours enclose memkind's.
void memkind_begin(void);

// Called by this library's destructor, because memkind's own destructor will destroy all kinds. From then on memkind is not called; its blocks stay
// readable and are not freed.
void memkind_end(void);

// The heap of a block that memkind made; null: it is not memkind's.
struct heap *memkind_heap_of(const void *block);

// For heaps of memkind, as heap_allocate, heap_resize and heap_free.
void *memkind_allocate(struct heap *heap, size_t bytes, size_t alignment, bool zeroed);
void *memkind_resize(struct heap *heap, void *block, size_t bytes);
void memkind_release(struct heap *heap, void *block);
// The block's usable size; 0: unknown, because memkind has ended.
size_t memkind_usable(const struct heap *heap, void *block);

// Number of bytes that may be read from the block's start: its usable size, or once memkind has ended all up to the region's end.
size_t memkind_readable(const struct heap *heap, void *block);

#pragma GCC visibility pop
