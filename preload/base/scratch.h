// SPDX-License-Identifier: Apache-2.0
// Pages for text that the kernel returns (readlink, getcwd). Hooks run on any stack of the program, signal stacks of 2
// KiB included, and may not allocate: so there is a small lock-free pool of static pages.
#pragma once

#pragma GCC visibility push(hidden)

enum { kScratchBytes = 4096 };

// Null: the pool is empty. Any thread, any signal handler. A page taken by a handler that jumps out stays taken.
char *scratch_take(void);
void scratch_give(char *page);  // null: no effect

#pragma GCC visibility pop
