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

// The least size of a block, and of a mapping, that any rule of this process is about; SIZE_MAX: none is.
extern HOT size_t least_bytes;
extern size_t least_mapping;

const struct mlrun_place_rule *rule_at(uint32_t number);

// Chooses the rules of this process by its role. `command`: name of the program. Again in a forked child.
void rules_choose(const struct mlrun_placement *area, const char *command, bool is_main);

// The rule for a call of this kind and size.
int rule_for(enum mlrun_place_calls calls, size_t bytes, const struct stack_start *caller);

#pragma GCC visibility pop
