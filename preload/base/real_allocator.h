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
  size_t (*usable_size)(void *);  // null: this allocator has none; SIZE_UNKNOWN: the one behind libmlrun_placement.so
  // allocator_bits of the functions that another object defines than the one with `usable_size`: the size of their
  // blocks is unknown.
  uint32_t of_others;
  // Where the blocks of libmlrun_placement.so are, if it is loaded in front of libc's allocator; else null.
  const unsigned long *placed_base, *placed_bytes;
  // The symbol of an object in front of mlrun's libraries, which gets calls of that name instead of our hook; null: there is none.
  // libc's reallocarray calls realloc, its free_sized and free_aligned_sized call free: our hooks call the same ones.
  void (*free_in_front)(void *);
  void *(*realloc_in_front)(void *, size_t);
};
extern struct real_allocator real_allocator;

// Looks the functions up, once. Allocates nothing, takes no lock.
void real_allocator_resolve(void);

// File of the object whose malloc the program calls, "" for the program itself.
const char *real_allocator_object(void);

// Whether that object also defines C++'s operator new: jemalloc's, tcmalloc's and mimalloc's do not call malloc. There
// is no hook of operator new: the program would find the hook before the one of its own library, and get blocks of
// another allocator.
bool real_allocator_has_new(void);

#define SIZE_UNKNOWN SIZE_MAX

// glibc keeps the size of a chunk in the word before the block; bits 0..2 are flags, bit 1 marks a chunk with a mapping
// of its own, which costs 8 bytes more.
INLINE size_t glibc_usable_size(void *block) {
  size_t header = ((size_t *)block)[-1];
  return (header & ~7ul) - 8 - ((header & 2) << 2);
}

// Whether glibc made the block. Also true of blocks for which libmlrun_placement.so called glibc.
INLINE bool is_of_glibc(const void *block) {
  if (likely(real_allocator.is_glibc)) return true;
  return real_allocator.placed_base &&
         (unsigned long)block - *real_allocator.placed_base >= *real_allocator.placed_bytes;
}

INLINE size_t usable_size(void *block) {
  if (likely(is_of_glibc(block))) return glibc_usable_size(block);
  return real_allocator.usable_size ? real_allocator.usable_size(block) : SIZE_UNKNOWN;
}

// The usable size of a block that the function of this kind has returned.
INLINE size_t usable_size_of(uint32_t kind, void *block) {
  return likely(!(real_allocator.of_others & allocator_bit(kind))) ? usable_size(block) : SIZE_UNKNOWN;
}

#pragma GCC visibility pop
