// SPDX-License-Identifier: Apache-2.0
// Memory that lives as long as the process, in blocks of at most a few KiB. Lock-free, so a signal handler may
// interrupt an allocation and allocate, too.
#pragma once

#include <stddef.h>

#pragma GCC visibility push(hidden)

enum { kKeptChunkBytes = 1 << 16, kKeptChunksMax = 8192 };

// `bytes` of zeros (at most kKeptChunkBytes), aligned to 16. Null: the process has reached its limit, or memory is
// exhausted.
void *keep_memory(size_t bytes);

#pragma GCC visibility pop
