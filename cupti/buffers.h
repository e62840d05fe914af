// SPDX-License-Identifier: Apache-2.0
// The buffers that CUPTI fills. They come from the program's own allocator and may have any content when they go to
// CUPTI, which clears them: a client of CUPTI that replaces the callbacks unseen gets the buffers that are out, and
// frees them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { kBuffersMax = 128 };

// CUPTI's callbacks.
void request_buffer(uint8_t **buffer, size_t *bytes, size_t *max_records);
void buffer_done(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes);

// Non-empty buffers that CUPTI has, at one moment.
struct filled_buffers {
  uint32_t turn[kBuffersMax];  // 0: not in the set
};
void look_at_filled_buffers(struct filled_buffers *filled);

// Their state now.
struct unseen_buffers {
  int kept;   // not returned
  int freed;  // not returned, and their memory is freed
};
struct unseen_buffers look_for_unseen_buffers(const struct filled_buffers *filled);

#pragma GCC visibility pop
