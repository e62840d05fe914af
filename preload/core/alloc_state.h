// SPDX-License-Identifier: Apache-2.0
// State of the allocation hooks in this process; a fork changes it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Counted blocks below this size take the fast path. 0 in a forked child, which first checks whether a block is its own.
extern uint64_t quick_limit_bytes;
extern bool records_vary;   // allocations take the slower path: with sampling, or until the first one is recorded
extern bool allocs_listed;  // this process has recorded an allocation

// In a forked child.
void alloc_state_after_fork(void);

#pragma GCC visibility pop
