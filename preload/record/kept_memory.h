// SPDX-License-Identifier: Apache-2.0
// Memory for what lives as long as the process, in pieces of at most a few KiB. Taken without a lock, so also in a
// signal handler that interrupts somebody who takes some.
#pragma once

#include <stddef.h>

#pragma GCC visibility push(hidden)

enum { kKeptChunkBytes = 1 << 16, kKeptChunksMax = 8192 };

// `bytes` of zeros (at most kKeptChunkBytes), aligned to 16. Null: the process has all that it gets, or none can be had.
void *keep_memory(size_t bytes);

#pragma GCC visibility pop
