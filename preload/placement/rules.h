// SPDX-License-Identifier: Apache-2.0
// Which rules fit a block, in their order: the first one of this process that has room for it places it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/compiler.h"
#include "preload/placement/sites.h"
#include "runner/events/placement.h"

#pragma GCC visibility push(hidden)

enum { kNoRule = -1 };

extern const struct mlrun_placement *placement;  // null: no rules

// The smallest size of a block (least_bytes) and of a mapping (least_mapping) that any rule of this process covers; SIZE_MAX: no rule does.
extern HOT size_t least_bytes;
extern size_t least_mapping;

const struct mlrun_place_rule *rule_at(uint32_t number);

// Chooses the rules that apply to this process by its role. `command`: name of the program. Called again in a forked child. Not
// places_blocks: rules about blocks are left out. Returns whether any was.
bool rules_choose(const struct mlrun_placement *area, const char *command, bool is_main, bool places_blocks);

// What each call compares with of the rules that apply to this process: one bit for each rule, and the sizes that it covers.
struct chosen_rules {
  uint64_t blocks, mappings;  // by the calls to which they apply
  uint64_t of_any_site;
  struct {
    size_t min_bytes, max_bytes;
  } sizes[MLRUN_PLACE_RULES];
};
extern struct chosen_rules chosen;

// A search for the rules that fit one call.
struct rule_search {
  size_t bytes;
  const struct stack_start *caller;
  uint64_t left;  // one bit for each rule that is not tried
  struct call_site site;
};

INLINE void rule_search_begin(struct rule_search *search, enum mlrun_place_calls calls, size_t bytes,
                              const struct stack_start *caller) {
  enum { kAddressBits = 47 };
  search->bytes = bytes;
  search->caller = caller;
  // No process has so much: it is refused, and sums do not overflow.
  search->left = bytes >> kAddressBits ? 0 : calls == MLRUN_PLACE_MMAP ? chosen.mappings : chosen.blocks;
  search->site.asked = search->site.known = 0;
}

bool rule_has_site(struct rule_search *search, uint32_t rule);

// Number of the next rule that fits the call; kNoRule: no further one does.
INLINE int next_rule(struct rule_search *search) {
  while (search->left) {
    int rule = __builtin_ctzll(search->left);
    search->left &= search->left - 1;
    if (search->bytes < chosen.sizes[rule].min_bytes || search->bytes > chosen.sizes[rule].max_bytes) continue;
    if (likely(chosen.of_any_site >> rule & 1) || rule_has_site(search, (uint32_t)rule)) return rule;
  }
  return kNoRule;
}

#pragma GCC visibility pop
