// SPDX-License-Identifier: Apache-2.0
// Mappings that rules of --place have placed and that are there now, in all processes together, at the end of the memory that placement.h
// describes. mlrun queries the nodes of their pages. If all entries are in use, a new mapping gets the oldest one's, and the slot of that
// process notes it (mappings_left_out).
#pragma once

#include "runner/events/placement.h"

enum {
  MLRUN_PLACE_SEGMENT = 64 << 20,  // a heap consists of whole segments of this size
  MLRUN_PLACE_SEGMENTS =
      1 << 16,                  // of a process; each rule has as many, the file of a pmem rule has half of the rule's
  MLRUN_PLACE_BELOW_BITS = 40,  // all segments of a process are 2^40 bytes below libmlrun_placement.so, and together
  MLRUN_PLACE_MAPPINGS = 511
};

struct mlrun_place_mapping {
  __u64 at, bytes;
  __u32 slot, rule;
  // Mappings are numbered from 1 on. 0: the entry is unused; MLRUN_PLACE_BUSY + slot: that process is writing it.
  __u64 number;
};

#define MLRUN_PLACE_BUSY (1ull << 63)

struct mlrun_place_mappings {
  __u64 made;  // targets
  __u64 spare[3];
  struct mlrun_place_mapping entry[MLRUN_PLACE_MAPPINGS];
};

enum {
  MLRUN_PLACE_MAPPINGS_OFFSET = MLRUN_PLACEMENT_BYTES - (int)sizeof(struct mlrun_place_mappings),
  MLRUN_PLACE_CACHES_OFFSET = MLRUN_PLACE_MAPPINGS_OFFSET - MLRUN_PLACE_CACHES * (int)sizeof(struct mlrun_place_cache)
};
