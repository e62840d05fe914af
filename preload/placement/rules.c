// SPDX-License-Identifier: Apache-2.0
#include "preload/placement/rules.h"

#include <string.h>

#include "preload/base/glob.h"

const struct mlrun_placement *placement;
HOT size_t least_bytes;
size_t least_mapping = SIZE_MAX;

enum { kAddressBits = 47 };

static uint64_t chosen;  // one bit for each rule

const struct mlrun_place_rule *rule_at(uint32_t number) {
  return (const struct mlrun_place_rule *)((const char *)placement + placement->rules_offset) + number;
}

static const char *text_at(uint32_t offset) { return (const char *)placement + offset; }

static bool has_role(const struct mlrun_place_rule *rule, const char *command, bool is_main) {
  switch ((enum mlrun_place_role)rule->role) {
    case MLRUN_PLACE_ANY_ROLE: return true;
    case MLRUN_PLACE_MAIN: return is_main;
    case MLRUN_PLACE_WORKER: return !is_main;
    case MLRUN_PLACE_COMMAND: return glob_matches(text_at(rule->role_text), command, strlen(command));
  }
  return false;
}

static void lower(size_t *least, uint64_t bytes) {
  if (bytes < *least) *least = bytes;
}

void rules_choose(const struct mlrun_placement *area, const char *command, bool is_main) {
  size_t blocks = SIZE_MAX, mappings = SIZE_MAX;
  placement = area;
  chosen = 0;
  for (uint32_t i = 0; i < area->rules_count; i++) {
    const struct mlrun_place_rule *rule = rule_at(i);
    if (!has_role(rule, command, is_main)) continue;
    chosen |= 1ull << i;
    lower(rule->calls == MLRUN_PLACE_MMAP ? &mappings : &blocks, rule->min_bytes);
    if (rule->site != MLRUN_PLACE_ANY_SITE) sites_begin(rule, i, text_at(rule->site_text));
  }
  least_mapping = mappings;
  __atomic_store_n(&least_bytes, blocks, __ATOMIC_RELEASE);
}

void rule_search_begin(struct rule_search *search, enum mlrun_place_calls calls, size_t bytes,
                       const struct stack_start *caller) {
  search->calls = calls;
  search->bytes = bytes;
  search->caller = caller;
  // No process has so much: it is refused, and sums do not overflow.
  search->left = bytes >> kAddressBits ? 0 : chosen;
  search->site.known = search->site.placed = 0;
}

int next_rule(struct rule_search *search) {
  while (search->left) {
    int number = __builtin_ctzll(search->left);
    const struct mlrun_place_rule *rule = rule_at((uint32_t)number);
    search->left &= search->left - 1;
    if (rule->calls != search->calls || search->bytes < rule->min_bytes || search->bytes > rule->max_bytes) continue;
    if (rule->site == MLRUN_PLACE_ANY_SITE ||
        site_matches(&search->site, search->caller, rule, (uint32_t)number, text_at(rule->site_text)))
      return number;
  }
  return kNoRule;
}
