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

// Chooses the rules that apply to this process by its role. `command`: name of the program. Called again in a forked child.
void rules_choose(const struct mlrun_placement *area, const char *command, bool is_main);

// A search for the rules that fit one call.
struct rule_search {
  enum mlrun_place_calls calls;
  size_t bytes;
  const struct stack_start *caller;
  uint64_t left;  // one bit for each rule that is not tried
  struct call_site site;
};
void rule_search_begin(struct rule_search *search, enum mlrun_place_calls calls, size_t bytes,
                       const struct stack_start *caller);

// Number of the next rule that fits the call; kNoRule: no further one does.
int next_rule(struct rule_search *search);

#pragma GCC visibility pop
