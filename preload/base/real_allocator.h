// SPDX-License-Identifier: Apache-2.0
// The allocator that the program uses: its functions, and the real sizes of its blocks.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/compiler.h"
#include "runner/events/record.h"

#pragma GCC visibility push(hidden)

#define allocator_bit(kind) (1u << ((kind)-MLRUN_MALLOC))

struct mlrun_placement_view;

struct real_allocator {
  bool is_glibc;
  void *(*malloc)(size_t);
  void (*free)(void *);
  void *(*calloc)(size_t, size_t);
  void *(*realloc)(void *, size_t);
  int (*posix_memalign)(void **, size_t, size_t);
  void *(*aligned_alloc)(size_t, size_t);
  void *(*memalign)(size_t, size_t);
  void *(*valloc)(size_t);
  void *(*pvalloc)(size_t);
  size_t (*usable_size)(void *);  // null: this allocator has none
  uint32_t of_others;             // allocator_bit of the functions that return another object's blocks
  // libmlrun_placement.so precedes libc's allocator: blocks at these addresses are its own. Null: it is not there.
  const unsigned long *placed_base, *placed_bytes;
};
extern struct real_allocator real_allocator;

// Looks the functions up, once. Allocates nothing, takes no lock.
void real_allocator_resolve(void);

// File of the object whose malloc the program calls, "" for the program itself.
const char *real_allocator_object(void);

// Whether C++'s operator new is that object's own: jemalloc, tcmalloc and mimalloc have one that does not call malloc.
// It has no hook: the program would find ours before that of its own library, and get another allocator's blocks.
bool real_allocator_has_new(void);

#define SIZE_UNKNOWN SIZE_MAX

// glibc keeps the size of a chunk in the word before the block; bits 0..2 are flags, bit 1 marks a chunk with a mapping
// of its own, which costs 8 bytes more.
INLINE size_t glibc_usable_size(void *block) {
  size_t header = ((size_t *)block)[-1];
  return (header & ~7ul) - 8 - ((header & 2) << 2);
}

// Also of a block that libmlrun_placement.so has left to libc.
INLINE bool is_of_glibc(const void *block) {
  if (likely(real_allocator.is_glibc)) return true;
  return real_allocator.placed_base &&
         (unsigned long)block - *real_allocator.placed_base >= *real_allocator.placed_bytes;
}

INLINE size_t usable_size(void *block) {
  if (likely(is_of_glibc(block))) return glibc_usable_size(block);
  return real_allocator.usable_size ? real_allocator.usable_size(block) : SIZE_UNKNOWN;
}

// Whether the function of this kind returned the block.
INLINE size_t usable_size_of(uint32_t kind, void *block) {
  return likely(!(real_allocator.of_others & allocator_bit(kind))) ? usable_size(block) : SIZE_UNKNOWN;
}

#pragma GCC visibility pop
