// SPDX-License-Identifier: Apache-2.0
#include "preload/placement/rules.h"

#include <string.h>

#include "preload/base/glob.h"

const struct mlrun_placement *placement;
HOT size_t least_bytes;
size_t least_mapping = SIZE_MAX;

struct chosen_rules chosen;

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

bool rules_choose(const struct mlrun_placement *area, const char *command, bool is_main, bool places_blocks) {
  size_t blocks = SIZE_MAX, mappings = SIZE_MAX;
  bool left_out = false;
  placement = area;
  chosen.blocks = chosen.mappings = chosen.of_any_site = 0;
  for (uint32_t i = 0; i < area->rules_count; i++) {
    const struct mlrun_place_rule *rule = rule_at(i);
    if (!has_role(rule, command, is_main)) continue;
    const bool is_of_mappings = rule->calls == MLRUN_PLACE_MMAP;
    if (!is_of_mappings && !places_blocks) {
      left_out = true;
      continue;
    }
    *(is_of_mappings ? &chosen.mappings : &chosen.blocks) |= 1ull << i;
    chosen.sizes[i].min_bytes = rule->min_bytes;
    chosen.sizes[i].max_bytes = rule->max_bytes;
    lower(is_of_mappings ? &mappings : &blocks, rule->min_bytes);
    if (rule->site == MLRUN_PLACE_ANY_SITE)
      chosen.of_any_site |= 1ull << i;
    else
      sites_begin(rule, i, text_at(rule->site_text));
  }
  least_mapping = mappings;
  __atomic_store_n(&least_bytes, blocks, __ATOMIC_RELEASE);
  return left_out;
}

bool rule_has_site(struct rule_search *search, uint32_t rule) {
  const struct mlrun_place_rule *about = rule_at(rule);
  return site_matches(&search->site, search->caller, about, rule, text_at(about->site_text));
}
