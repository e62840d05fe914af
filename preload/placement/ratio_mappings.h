// SPDX-License-Identifier: Apache-2.0
// The program's mappings that a ratio has placed: where they begin, and of how many pieces they consist. They are found again when the program unmaps
// them or a part of one, or moves one as a whole; a part that it moves leaves all pieces counted. Lock-free, for any thread and signal handler.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/placement/policy.h"

#pragma GCC visibility push(hidden)

struct ratio_mapping {
  uint32_t rule, pieces;  // pieces 0: none
};

// Finds out, at load, whether the kernel can move a mapping that is cut (mremap_pieces.h). If not, mappings go whole to the nodes in turn.
void ratio_mappings_open(void);

// Places a new mapping by the ratio of rule `number`: cut into pieces, or whole once there are too many. False: it is left alone, because there are
// too many of those too, or mbind is not possible.
bool ratio_mapping_place(uint32_t number, const struct mlrun_place_rule *rule, char *at, size_t bytes,
                         enum bound_pages which);

// Ends all mappings and parts of mappings in these bytes. To be called before they are unmapped. Allocators that align map more than they need, and
// unmap both ends.
void ratio_mappings_end(const void *at, size_t bytes);

// Takes the mapping that begins at `at`, if all of it is in these bytes. To be called before it is moved.
struct ratio_mapping ratio_mapping_take(const void *at, size_t bytes);

// To be called after the kernel has moved a mapping that was taken, or changed its size; also if it has refused to.
void ratio_mapping_put(const struct ratio_mapping *mapping, const void *at, size_t bytes);

#pragma GCC visibility pop
