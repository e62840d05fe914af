// SPDX-License-Identifier: Apache-2.0
// Rules with the target pmem: their heap is a file without a name in the folder of --pmem, on a file system with MAP_SYNC. The mapping is shared, so
// a fork would give parent and child the same blocks:
//
//   before the fork   the live blocks are copied into private memory      the file's mappings are not inherited (MADV_DONTFORK)
//   in the parent     the copy is unmapped
//   in the child      the copy is moved to the addresses of the blocks; new blocks go to the next rule that fits
//
// Nothing is mapped at these addresses in the child if there is no memory for a copy, if a signal handler forks that has interrupted the heap, and
// after _Fork and raw clone: an access is SIGSEGV and never reads wrong contents. Fork handlers that were registered before ours run after the
// copy: what they write into a block is not in it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Makes a sparse file of `bytes` bytes. Returns its descriptor, or -errno. Only at load.
long file_create(const char *folder, uint64_t bytes);

// Maps `bytes` bytes at this offset of the file at `at`, where nothing may be mapped. Only at load.
bool file_map(long fd, void *at, size_t bytes, uint64_t offset);

// Allocates space in the file for these pages. False: the file system is full.
bool file_populate(void *at, size_t bytes);

// Frees the file's space under these pages, which then read as zeros.
bool file_give_back(void *at, size_t bytes);

// Called by the fork handlers, with the locks of all heaps held.
void files_before_fork(void);
void files_in_parent(void);
void files_in_child(void);

#pragma GCC visibility pop
