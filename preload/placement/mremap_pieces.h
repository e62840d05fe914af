// SPDX-License-Identifier: Apache-2.0
// mremap of addresses that are several mappings of the kernel where they would be one without rules: a ratio has cut them, or a rule is about a part
// of them. The kernel refuses that (EFAULT), except that Linux 6.17 moves them to fixed addresses if their size stays. Here each piece is moved by
// itself, with its pages:
//
//   old   | piece | piece | last |                   new    | held: nothing can be mapped there ... |
//   1. the last piece grows in place, if the addresses behind it are free
//   2. each other piece moves to its place in new; its old addresses stay mapped (MREMAP_DONTUNMAP), so that all can go back
//   3. the last one moves and grows; old is unmapped
#pragma once

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

// Whether the kernel moves several mappings in one call (Linux 6.17), which needs no address space for both copies. Such a kernel looks at the
// mappings before it unmaps the wanted addresses. An older one unmaps them first and refuses then, and another thread could map something there.
extern bool kernel_moves_several;

// At load: finds that out, by two pages of our own.
void mremap_pieces_open(void);

// To be called once the kernel has refused the same arguments with EFAULT; with MREMAP_FIXED before an older kernel is asked. Returns the mapping,
// or MAP_FAILED with errno; then nothing has moved, but what was at fixed addresses may be unmapped. Null: these are not several mappings, and
// nothing has changed: the kernel's answer counts. A move needs Linux 5.7.
void *mremap_pieces(char *at, size_t old, size_t bytes, int flags, char *wanted);

#pragma GCC visibility pop
