// SPDX-License-Identifier: Apache-2.0
// Memory from the kernel. After load only by calls that libc's allocator makes too, so that a seccomp filter of the program has
// nothing new: a policy is inherited from a mapping that has it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/raw_syscall.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

#pragma GCC visibility push(hidden)

// Zeros; at this address, or null: anywhere. Null: not possible.
void *pages_map(void *at, size_t bytes);

// Takes the addresses, without memory. False: the program has mapped something there.
bool pages_hold(void *at, size_t bytes);

void pages_unmap(void *at, size_t bytes);

// False: the kernel keeps the pages, as those of locked memory before Linux 5.18.
bool pages_give_back(void *at, size_t bytes);

// Makes the mapping that ends behind these bytes longer or shorter, where it is. False: it is as it was.
bool pages_resize(void *at, size_t bytes, size_t wanted);

// Moves the contents to an address of ours, whatever is mapped there, and the policy with them; `at` stays mapped, with zeros. False: nothing
// has happened (two mappings, or Linux before 5.7).
bool pages_move(void *at, size_t bytes, void *to);

// Futexes, of this process.
void futex_wait(uint32_t *word, uint32_t while_equal);
void futex_wait_for(uint32_t *word, uint32_t while_equal, long ns);
void futex_wake_one(uint32_t *word);

#pragma GCC visibility pop
