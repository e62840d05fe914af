// SPDX-License-Identifier: Apache-2.0
// The buffers that CUPTI fills with records. They come from the program's allocator: another client of CUPTI that
// replaces our callbacks without a call of our functions gets the buffers that CUPTI still has from us, and frees them.
// A buffer may have any content when CUPTI gets it: CUPTI clears it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { kBuffersMax = 128 };

// The two callbacks that are registered with CUPTI.
void request_buffer(uint8_t **buffer, size_t *bytes, size_t *max_records);
void buffer_done(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes);

// The set of non-empty buffers that CUPTI has from us, at one moment: by place, the place's turn.
struct filled_buffers {
  uint32_t turn[kBuffersMax];  // 0: not in the set
};
void look_at_filled_buffers(struct filled_buffers *filled);

// What became of the buffers in such a set.
struct unseen_buffers {
  int kept;   // number of buffers that CUPTI has not returned
  int freed;  // how many of these have been freed by another client
};
struct unseen_buffers look_for_unseen_buffers(const struct filled_buffers *filled);

#pragma GCC visibility pop
