// SPDX-License-Identifier: Apache-2.0
// Buffers that CUPTI fills. They come from the kernel zeroed, and are given back zeroed by forgetting their pages: CUPTI
// is told that it need not clear them, which it would do in the program's threads.
#pragma once

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// CUPTI's two callbacks; any thread.
void request_buffer(uint8_t **buffer, size_t *bytes, size_t *max_records);
void buffer_done(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes);

#pragma GCC visibility pop
