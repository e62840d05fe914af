// SPDX-License-Identifier: Apache-2.0
// Other tools in the process that use CUPTI, such as torch.profiler. CUPTI has one set of callbacks and kinds for all
// its clients. The other tool has priority over our recording:
//
//   ours ── tool registers callbacks or a clock, or switches a kind on ──▶ theirs    our kinds off, all fetched
//     ▲                                                                      │
//     └── tool's kinds are off, its buffers fetched, and a second passed ────┘       the gap is recorded
//
// Our two callbacks stay registered. They forward CUPTI's calls to the tool's callbacks: a request if the tool has
// CUPTI, a returned buffer if it is the tool's.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// True: another tool has CUPTI now.
bool cupti_is_taken(void);

// Call the tool's callbacks. request_buffer_of_other returns false if the tool has none, or CUPTI is ours.
bool request_buffer_of_other(uint8_t **buffer, size_t *bytes, size_t *max_records);
void give_buffer_to_other(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes);

// Called on the flusher's thread, about once a second.
void take_cupti_back_if_due(void);
// Called on the flusher's thread before it fetches records, whose times may be of the tool's clock.
void keep_other_clock(void);

// Called on the flusher's thread when another client has taken CUPTI without a call of our functions. It keeps CUPTI:
// we would not see it end. `since_ns`: the last time at which CUPTI was certainly ours.
void lose_cupti_unseen(uint64_t since_ns);

// Called around the flusher's calls of CUPTI: cuptiFinalize in the other tool must not run at the same time, so it
// waits for leave_cupti (lose_cupti). False: do not call CUPTI any more.
bool enter_cupti(void);
void leave_cupti(void);

#pragma GCC visibility pop
