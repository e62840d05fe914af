// SPDX-License-Identifier: Apache-2.0
// Which rule a block falls under: the first one of this process that fits.
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

// Number of the first rule that fits a call of this kind, size and caller; kNoRule: none.
int rule_for(enum mlrun_place_calls calls, size_t bytes, const struct stack_start *caller);

#pragma GCC visibility pop
