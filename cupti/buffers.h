// SPDX-License-Identifier: Apache-2.0
// The buffers that CUPTI fills. They come from the program's own allocator and may be of any content when they go to
// CUPTI: another client of CUPTI that takes the callbacks' place unseen gets those that are out, and frees them, and
// CUPTI fills its buffers next, which nobody has zeroed.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { kBuffersMax = 128 };

// CUPTI's callbacks.
void request_buffer(uint8_t **buffer, size_t *bytes, size_t *max_records);
void buffer_done(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes);

// Buffers that CUPTI has with something in them, at one moment.
struct filled_buffers {
  uint32_t turn[kBuffersMax];  // 0: not such a one
};
void look_at_filled_buffers(struct filled_buffers *filled);

// What has become of them since.
struct unseen_buffers {
  int kept;   // they have not come back
  int freed;  // likewise, and their memory is gone
};
struct unseen_buffers look_for_unseen_buffers(const struct filled_buffers *filled);

#pragma GCC visibility pop
