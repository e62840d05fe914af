// SPDX-License-Identifier: Apache-2.0
// The newest mappings that rules of --place have placed, in all processes together, at the end of the memory that placement.h
// describes. mlrun queries the nodes of their pages.
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
  __u64 number;  // n + 1 of entry n, written last; 0: being written
};

// Entry n is in last[n % MLRUN_PLACE_MAPPINGS].
struct mlrun_place_mappings {
  __u64 made;  // targets
  __u64 spare[3];
  struct mlrun_place_mapping last[MLRUN_PLACE_MAPPINGS];
};

enum {
  MLRUN_PLACE_MAPPINGS_OFFSET = MLRUN_PLACEMENT_BYTES - (int)sizeof(struct mlrun_place_mappings),
  MLRUN_PLACE_CACHES_OFFSET = MLRUN_PLACE_MAPPINGS_OFFSET - MLRUN_PLACE_CACHES * (int)sizeof(struct mlrun_place_cache)
};
