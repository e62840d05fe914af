// SPDX-License-Identifier: Apache-2.0
// The hooks of the allocation family, as the rest of the library sees them.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define ALLOCS_OFF UINT64_MAX

// Smallest usable size of a block that gets a record; ALLOCS_OFF: pass everything through. `times_all`: all records
// get a duration, not only those of large blocks.
void alloc_hooks_configure(uint64_t min_bytes, uint64_t mean_sample_bytes, bool times_all);

// In a forked child: from now on it matters whose a block is.
void alloc_hooks_after_fork(void);

// Whether this process has recorded an allocation.
bool alloc_hooks_listed_any(void);

#pragma GCC visibility pop
