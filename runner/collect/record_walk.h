// SPDX-License-Identifier: Apache-2.0
// Finds finished records in a segment by the lap rule (runner/events/arena.h). Any traced process may write the segment
// while it is read: record lengths are untrusted and checked against the bounds of the segment.
#pragma once

#include <cstdint>

#include "runner/events/arena.h"
#include "runner/events/record.h"

namespace mlrun::collect {

struct Walk {
  uint32_t end = 0;  // offset after the last finished record
  uint32_t records = 0;
  uint32_t calls = 0;    // of these, calls
  uint32_t allocs = 0;   // of these, allocations
  bool closed = false;   // a pad record is at `end`: no more records in this segment
  bool corrupt = false;  // an invalid record is at `end`
};

// Finished records from `offset` on, up to the first unit without the tag of this lap. Requires: offset is a multiple
// of MLRUN_UNIT_BYTES, at most MLRUN_SEGMENT_BYTES.
Walk walk_records(const char* segment, uint32_t offset, uint8_t lap);

// Offset of the first unit with the tag of this lap at or after `offset`; MLRUN_SEGMENT_BYTES: none.
uint32_t next_tagged_unit(const char* segment, uint32_t offset, uint8_t lap);

}  // namespace mlrun::collect
