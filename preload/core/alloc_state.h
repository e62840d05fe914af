// SPDX-License-Identifier: Apache-2.0
// What the allocation hooks know of this process, and a fork changes.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Of counted blocks, those below this are counted at once. 0 in a forked child, where it matters whose the block is.
extern uint64_t quick_limit_bytes;
extern bool records_vary;   // an allocation is not just one record: sampled, or the first
extern bool allocs_listed;  // this process has recorded an allocation

// In a forked child.
void alloc_state_after_fork(void);

#pragma GCC visibility pop
