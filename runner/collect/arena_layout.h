// SPDX-License-Identifier: Apache-2.0
// Offsets of the parts of an arena. All follow from the number of segments, so a corrupted control page can be detected
// by comparison.
#pragma once

#include <cstdint>

#include "runner/events/arena.h"
#include "runner/events/placement.h"

namespace mlrun::collect {

struct ArenaLayout {
  uint32_t segment_count = 0;
  uint64_t owner_offset = 0;     // one 32-bit word per segment
  uint64_t drained_offset = 0;   // one 32-bit word per segment: {lap 8 | offset 24}, written by the collector only
  uint64_t stage_offset = 0;     // page-aligned
  uint64_t segments_offset = 0;  // aligned to a segment
  uint64_t bytes = 0;
};

// Requires: 1 <= segment_count <= MLRUN_MAX_SEGMENTS.
constexpr ArenaLayout make_arena_layout(uint32_t segment_count) {
  const auto round_up = [](uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; };
  constexpr uint64_t kPage = 4096;
  ArenaLayout layout;
  layout.segment_count = segment_count;
  layout.owner_offset = MLRUN_CONTROL_BYTES + MLRUN_RULES_BYTES + MLRUN_PLACEMENT_BYTES;
  layout.drained_offset = round_up(layout.owner_offset + 4ull * segment_count, kPage);
  layout.stage_offset = round_up(layout.drained_offset + 4ull * segment_count, kPage);
  layout.segments_offset = round_up(layout.stage_offset + MLRUN_STAGE_BYTES, MLRUN_SEGMENT_BYTES);
  layout.bytes = layout.segments_offset + uint64_t{segment_count} * MLRUN_SEGMENT_BYTES;
  return layout;
}

// The most segments that fit in `bytes`; 0 when not even one does.
constexpr uint32_t segments_that_fit(uint64_t bytes) {
  const uint64_t fixed = make_arena_layout(1).segments_offset;
  uint64_t count = bytes > fixed ? (bytes - fixed) / MLRUN_SEGMENT_BYTES : 0;
  if (count > MLRUN_MAX_SEGMENTS) count = MLRUN_MAX_SEGMENTS;
  while (count > 0 && make_arena_layout(static_cast<uint32_t>(count)).bytes > bytes) count--;
  return static_cast<uint32_t>(count);
}

}  // namespace mlrun::collect
