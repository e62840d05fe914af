// SPDX-License-Identifier: Apache-2.0
// Segments of the arena: claiming a free one, waiting for one, moving a thread to a fresh one.
#pragma once

#include <stdint.h>

#include "preload/recorder.h"

#pragma GCC visibility push(hidden)

// A free segment, now ours with `owner` in its owner word, as {lap 8 | segment + 1, 24 | 0}; 0: none. In a lossless session it
// waits for one.
uint64_t claim_segment(uint32_t owner);

INLINE uint32_t claimed_segment(uint64_t claimed) { return (uint32_t)(claimed >> 32 & MLRUN_OWNER_MASK) - 1; }
INLINE uint32_t claimed_lap(uint64_t claimed) { return (uint32_t)(claimed >> 56); }
INLINE char *segment_start(uint32_t segment) { return segments + (uint64_t)segment * MLRUN_SEGMENT_BYTES; }

#pragma GCC visibility pop
