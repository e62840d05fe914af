// SPDX-License-Identifier: Apache-2.0
// Memory for what an exec passes on changed: environments and lists of arguments, which have any size. Not on the program's stack,
// which may be as small as it likes, and not from its allocator. Each thread keeps a list of what it has taken, last first:
//
//   exec_space_take ── exec fails, or posix_spawn returns ──▶ exec_space_give
//         │
//         └─ exec in a child that shares this memory (vfork, clone with CLONE_VM) succeeds: nothing comes back there.
//            The parent gives it back when its vfork returns, or the next one that takes finds that the taker was another process.
#pragma once

#include <stddef.h>

#pragma GCC visibility push(hidden)

// Null: no memory to be had. Any signal handler, also in a vfork child; errno is left alone.
void *exec_space_take(size_t bytes);

// The last one that this thread has taken; null: nothing to do.
void exec_space_give(const void *space);

// What the thread's vfork child has left, once it is gone: all that was taken after `last`.
struct exec_space;
void exec_spaces_clear(struct exec_space *last);

#pragma GCC visibility pop
