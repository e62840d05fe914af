// SPDX-License-Identifier: Apache-2.0
// Pages for text that the kernel returns (readlink, getcwd). Hooks run on whatever stack the program has, signal stacks
// of 2 KiB included, and may not allocate: so there is a small pool of static pages, taken without a lock.
#pragma once

#pragma GCC visibility push(hidden)

enum { kScratchBytes = 4096 };

// Null: all are in use. Any thread, any signal handler. A page taken by a handler that jumps out stays taken.
char *scratch_take(void);
void scratch_give(char *page);  // null: nothing to do

#pragma GCC visibility pop
