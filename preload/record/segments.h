// SPDX-License-Identifier: Apache-2.0
// Segments of the arena: claiming a free one, waiting for one, moving a thread to a fresh one.
#pragma once

#include <stdint.h>

#include "preload/core/recorder.h"

#pragma GCC visibility push(hidden)

// Claims a free segment by writing `owner` into its owner word. Returns {lap 8 | segment + 1, 24 | 0}; 0: none is free.
uint64_t try_claim_segment(uint32_t owner);
void give_back_segment(uint64_t claimed);

// A thread that finds no free segment waits for one if that may help: in a lossless session, and in any session as long
// as the collector has not handed out the whole arena:
//
//   struct patience patience = {0};
//   do begin_attempt(&patience), ... while (nothing was found && wait_for_segment(&patience));
//
// The wait fails when the collector has died, as its robust mutex shows, and when no segment has become free in 5 s
// (0.2 s if the session is not lossless). After one thread has given up no other waits until the next segment is free.
// In a session that is not lossless the waits of a process take 1 s in all, and a confined process does not wait.
struct patience {
  uint64_t since_ns;
  uint32_t space;  // the control page's counter of freed segments, before the attempt
};
void begin_attempt(struct patience *patience);
bool wait_for_segment(struct patience *patience);

INLINE uint32_t claimed_segment(uint64_t claimed) { return (uint32_t)(claimed >> 32 & MLRUN_OWNER_MASK) - 1; }
INLINE uint32_t claimed_lap(uint64_t claimed) { return (uint32_t)(claimed >> 56); }
INLINE char *segment_start(uint32_t segment) { return segments + (uint64_t)segment * MLRUN_SEGMENT_BYTES; }

#pragma GCC visibility pop
