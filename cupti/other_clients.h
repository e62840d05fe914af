// SPDX-License-Identifier: Apache-2.0
// Other tools in the process that use CUPTI: torch.profiler, for one. CUPTI has one set of callbacks and kinds for all.
// The program's own tool comes first:
//
//   ours ── it registers callbacks or a clock, or switches a kind on ──▶ theirs      our kinds off, all fetched
//     ▲                                                                     │
//     └── its kinds are off, it has fetched its buffers, a second passed ───┘        the gap is told of
//
// CUPTI keeps our two callbacks all the time, which pass on what is the other tool's: a buffer goes to whom it came from.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Another tool has CUPTI now.
bool cupti_is_taken(void);

// The tool's callbacks. Request: false: it has none, or CUPTI is ours.
bool request_buffer_of_other(uint8_t **buffer, size_t *bytes, size_t *max_records);
void give_buffer_to_other(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes);

// On our own thread, now and then.
void take_cupti_back_if_due(void);
// Likewise, before records are fetched whose times are the tool's clock's.
void keep_other_clock(void);

// A client that nobody saw coming has CUPTI, and does not give it back. On our own thread.
void lose_cupti_unseen(uint64_t since_ns);

// Our thread is in one of CUPTI's functions that the other tool's cuptiFinalize must not meet. False: it may not go there.
bool enter_cupti(void);
void leave_cupti(void);

#pragma GCC visibility pop
