// SPDX-License-Identifier: Apache-2.0
// Where a call comes from: the first function that is not of mlrun's libraries, and its callers. Only where a rule asks for it; what was
// found for a return address is remembered, also for another library that is loaded there later.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "preload/base/compiler.h"
#include "preload/placement/signatures.h"
#include "preload/unwind/stack_walk.h"
#include "runner/events/placement.h"

#pragma GCC visibility push(hidden)

// At load: which libraries there are, and the signatures of a rule. text: its site_text.
void sites_begin(const struct mlrun_place_rule *rule, uint32_t number, const char *text);
void sites_after_fork(void);

// The callers of one call, found when first asked for. Begins with both numbers 0; the arrays need no value.
struct call_site {
  uint32_t known, placed;  // frames; of these, with their place
  uint64_t frames[MLRUN_PLACE_FRAMES];
  struct code_place places[MLRUN_PLACE_FRAMES];
};

// Whether the caller is the one of this rule. text: the rule's site_text.
bool site_matches(struct call_site *site, const struct stack_start *caller, const struct mlrun_place_rule *rule,
                  uint32_t number, const char *text);

#pragma GCC visibility pop
