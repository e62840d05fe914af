// SPDX-License-Identifier: Apache-2.0
// Finds finished records in a segment by the lap rule (runner/events/arena.h). The segment may be written, by its owner
// or by anybody, while it is read: nothing that stands in it is believed beyond the bounds of the segment.
#pragma once

#include <cstdint>

#include "runner/events/arena.h"
#include "runner/events/record.h"

namespace mlrun::collect {

struct Walk {
  uint32_t end = 0;  // offset behind the last finished record
  uint32_t records = 0;
  uint32_t calls = 0;    // of those: calls
  uint32_t allocs = 0;   // of those: allocations
  bool closed = false;   // a pad stands at `end`: nothing more comes in this segment
  bool corrupt = false;  // what stands at `end` claims to be a record and cannot be one
};

// Finished records from `offset` on, up to the first unit that does not carry the tag. Requires: offset is a multiple
// of MLRUN_UNIT_BYTES, at most MLRUN_SEGMENT_BYTES.
Walk walk_records(const char* segment, uint32_t offset, uint8_t lap);

// Offset of the first unit with the tag at or behind `offset`; MLRUN_SEGMENT_BYTES: there is none.
uint32_t next_tagged_unit(const char* segment, uint32_t offset, uint8_t lap);

}  // namespace mlrun::collect
