// SPDX-License-Identifier: Apache-2.0
// Memory for the changed environments and argument lists of an exec, which have any size. Not on the program's stack,
// which may be small, and not from its allocator. Each thread keeps a list of the spaces it has taken, last first:
//
//   exec_space_take ── exec fails, or posix_spawn returns ──▶ exec_space_give
//         │
//         └─ exec in a child that shares this memory (vfork, clone with CLONE_VM) succeeds and does not return.
//            The parent gives it back when its vfork returns, or at a take that finds another process's space.
#pragma once

#include <stddef.h>

#pragma GCC visibility push(hidden)

// Null: memory is exhausted. Any signal handler, also in a vfork child; leaves errno alone.
void *exec_space_take(size_t bytes);

// The last one that this thread has taken; null: no effect.
void exec_space_give(const void *space);

// In the parent, after its vfork has returned: gives back the spaces that the child has taken, which are those taken after
// `last`.
struct exec_space;
void exec_spaces_clear(struct exec_space *last);

#pragma GCC visibility pop
