// SPDX-License-Identifier: Apache-2.0
// Other tools in the process that use CUPTI, such as torch.profiler. CUPTI has one set of callbacks and kinds for all,
// and the program's own tool has priority:
//
//   ours ── it registers callbacks or a clock, or switches a kind on ──▶ theirs      our kinds off, all fetched
//     ▲                                                                     │
//     └── its kinds are off, it has fetched its buffers, a second passed ───┘        the gap is recorded
//
// CUPTI always keeps our two callbacks, which forward the other tool's calls: a buffer goes to the client that it came
// from.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Another tool has CUPTI now.
bool cupti_is_taken(void);

// The tool's callbacks. Request returns false: it has none, or CUPTI is ours.
bool request_buffer_of_other(uint8_t **buffer, size_t *bytes, size_t *max_records);
void give_buffer_to_other(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes);

// On our own thread, now and then.
void take_cupti_back_if_due(void);
// On our own thread, before records with times of the tool's clock are fetched.
void keep_other_clock(void);

// A client that was not seen to come has CUPTI, and does not give it back. On our own thread.
void lose_cupti_unseen(uint64_t since_ns);

// Our thread enters a function of CUPTI that the other tool's cuptiFinalize must not meet. False: it must not enter.
bool enter_cupti(void);
void leave_cupti(void);

#pragma GCC visibility pop
