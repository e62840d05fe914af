// SPDX-License-Identifier: Apache-2.0
// The allocation hooks' interface to the rest of the library.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define ALLOCS_OFF UINT64_MAX

// Smallest usable size of a block that gets a record; ALLOCS_OFF: calls pass through. `times_all`: all records get a
// duration, not only those of large blocks.
void alloc_hooks_configure(uint64_t min_bytes, uint64_t mean_sample_bytes, bool times_all);

#pragma GCC visibility pop
