// SPDX-License-Identifier: Apache-2.0
// Rules with the target pmem: their heap is a file without a name in the folder of --pmem, on a file system with MAP_SYNC. The mapping is shared, so
// a fork would give parent and child the same blocks:
//
//   before the fork   the live blocks are copied into private memory      the file's mappings are not inherited (MADV_DONTFORK)
//   in the parent     the copy goes
//   in the child      the copy is moved to where the blocks were; new blocks are the allocator's
//
// Where there is no memory for a copy, and behind _Fork and raw clone, the child has nothing at these addresses: it gets a signal and no
// wrong contents. What handlers of forks that were registered before ours write into a block is not in the copy.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// A file of so many bytes, none of which takes space so far. Returns its descriptor, below 0: not possible. At load.
long file_create(const char *folder, uint64_t bytes);

// Maps the page at this offset of the file, at an address where nothing is. At load.
bool file_map(long fd, void *at, size_t bytes, uint64_t offset);

// Takes space in the file. False: it is full.
bool file_populate(void *at, size_t bytes);

// Gives the space back; the pages are zeros then.
bool file_give_back(void *at, size_t bytes);

// Around a fork, with the locks of all heaps.
void files_before_fork(void);
void files_in_parent(void);
void files_in_child(void);

#pragma GCC visibility pop
