// SPDX-License-Identifier: Apache-2.0
// Calls that map memory at a requested address: mmap and mremap. Their records have a fifth unit, for the requested
// address (the result is the actual one) and for mmap's return address or mremap's arguments about the old mapping.
#pragma once

#include <stdbool.h>

#include "preload/calls/traced_call.h"

#pragma GCC visibility push(hidden)

struct map_call {
  struct pending_call call;
  bool asks;        // the record has a fifth unit
  uint64_t wanted;  // 0: any address
  uint64_t before;  // word 8 of the record (remap.h), without its tag byte
};

INLINE void leave_map_call(struct map_call *map) { leave_call(&map->call); }
#define MAP_CALL_CLEANUP __attribute__((cleanup(leave_map_call)))

// result: the address, or MAP_FAILED.
void end_map_call(const struct map_call *map, int64_t result);

#pragma GCC visibility pop
