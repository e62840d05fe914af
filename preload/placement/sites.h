// SPDX-License-Identifier: Apache-2.0
// The caller of an allocation: the first function outside mlrun's libraries, and that function's callers. Determined only if a rule names a caller.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "preload/base/compiler.h"
#include "preload/placement/signatures.h"
#include "preload/unwind/code_modules.h"
#include "preload/unwind/stack_walk.h"
#include "runner/events/placement.h"

#pragma GCC visibility push(hidden)

// At load: reads the list of loaded libraries and the rule's signatures. text: the rule's site_text.
void sites_begin(const struct mlrun_place_rule *rule, uint32_t number, const char *text);
void sites_after_fork(void);

struct call_frame {
  uint64_t address;  // to which it returns
  enum module_search found;
  struct code_module module;  // if found
};

// The callers of one call, walked when a rule first needs them. Must begin with asked and known 0; the rest needs no value.
struct call_site {
  uint32_t asked, known;     // number of frames that were wanted, and that there are
  struct call_frame caller;  // the first one
  struct code_place places[MLRUN_PLACE_FRAMES];
};

// Whether the caller is the one of this rule. text: the rule's site_text.
bool site_matches(struct call_site *site, const struct stack_start *caller, const struct mlrun_place_rule *rule,
                  uint32_t number, const char *text);

#pragma GCC visibility pop
