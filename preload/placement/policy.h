// SPDX-License-Identifier: Apache-2.0
// Policies of memory: nodes, advice about huge pages, and ratios, which cut memory into pieces on different nodes. Each piece is a mapping of the
// kernel. It allows a process 65,530 of them, so pieces are counted, those of blocks and of mappings together.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runner/events/placement.h"

#pragma GCC visibility push(hidden)

// kExistingToo moves pages that are in memory already, which costs the kernel a look at all processors.
enum bound_pages { kNewOnly, kExistingToo };

// Sets the rule's NUMA policy (unless it is a ratio: ratio_apply) and its advice about huge pages on these pages. small:
// they hold blocks below 2 MiB, and are never huge.
bool policy_apply(const struct mlrun_place_rule *rule, void *at, size_t bytes, bool small, enum bound_pages which);

uint64_t ratio_sum(const struct mlrun_place_rule *rule);

// Binds pages to nodes by the rule's ratio. Returns the number of pieces, of which there are fewer and larger ones once many are counted. 0: not
// done, because mbind is not possible (any more) or the process would have too few mappings left for the program's own.
uint32_t ratio_apply(const struct mlrun_place_rule *rule, char *at, uint64_t pages, enum bound_pages which);

// The same with one piece: all of a mapping goes to one node. The mappings take turns, so that their numbers have the ratio.
uint32_t ratio_apply_whole(const struct mlrun_place_rule *rule, char *at, size_t bytes, enum bound_pages which);

// Resets the policy of the pages, so that the kernel merges their pieces. No effect if mbind is not possible.
void ratio_undo(char *at, uint32_t pages, uint32_t pieces);

// Adds to the pieces. False: these would be too many.
bool ratio_begin_pieces(uint32_t pieces);

// Pieces that are gone.
void ratio_end_pieces(uint32_t pieces);

#pragma GCC visibility pop
