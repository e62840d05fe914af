// SPDX-License-Identifier: Apache-2.0
#include "preload/placement/sites.h"

#include <stddef.h>
#include <string.h>

#include "preload/base/glob.h"
#include "preload/core/recorder.h"
#include "preload/placement/pages.h"
#include "preload/placement/start.h"
#include "preload/placement/symbol_at.h"
#include "preload/unwind/code_modules.h"
#include "preload/unwind/unwind_cache.h"
#include "runner/events/session.h"

enum { kCacheBytes = kCacheEntries * (int)sizeof(uint64_t), kAnswers = 1 << 12 };

// Defined here for the stack walker (unwind/), which reads it; the recorder has its own.
__thread struct thread_state this_thread __attribute__((tls_model("initial-exec")));

// {return address 48 | rule 8 | matches 1 | known 1}: one word, so that any thread may write it.
static uint64_t answers[kAnswers];

static struct signatures signatures[MLRUN_PLACE_RULES];

void sites_begin(const struct mlrun_place_rule *rule, uint32_t number, const char *text) {
  if (rule->site == MLRUN_PLACE_SIGNATURE && !signatures[number].first) signatures[number] = signatures_read(text);
  if (unwind_cache) return;
  char *memory = pages_map(NULL, kCacheBytes + code_modules_bytes());
  if (!memory) return;
  code_modules_begin(memory + kCacheBytes);
  unwind_cache = (uint64_t *)(void *)memory;
}

void sites_after_fork(void) {
  if (unwind_cache) code_modules_after_fork();
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static const char *module_name(const struct code_module *module) {
  const char *name = (const char *)module->name;  // NOLINT(performance-no-int-to-ptr)
  return *name ? base_name(name) : program_name;
}

// The frames of the recorder's hooks, which are between the program's call and this library, are skipped.
static bool is_of_mlrun(uint64_t address) {
  struct code_module module;
  if (is_own_code(address)) return true;
  return find_code_module(address, &module) == MODULE_FOUND && !strcmp(module_name(&module), MLRUN_PRELOAD_LIBRARY);
}

// Fills in up to `wanted` frames.
static uint32_t walk(struct call_site *site, const struct stack_start *caller, uint32_t wanted) {
  struct stack_walk at;
  if (site->known >= wanted || !unwind_cache) return site->known;
  site->known = 0;
  if (!stack_walk_begin(&at, caller)) return 0;
  do {
    if (site->known || !is_of_mlrun(stack_walk_address(&at))) site->frames[site->known++] = at.pc;
  } while (site->known < wanted && stack_walk_next(&at));
  return site->known;
}

static bool library_matches(const struct code_module *module, const char *pattern) {
  const char *name = module_name(module);
  return glob_matches(pattern, name, strlen(name));
}

static bool function_matches(const struct code_module *module, uint64_t address, const char *pattern) {
  const void *dynamic = (const void *)module->dynamic;  // NOLINT(performance-no-int-to-ptr)
  return any_symbol_matches(dynamic, module->bias, address - 1, pattern);
}

static struct code_place place_of(uint64_t address) {
  struct code_module module;
  struct code_place place = {0, 0};
  if (find_code_module(address - 1, &module) != MODULE_FOUND) return place;
  for (uint32_t i = 0; i < sizeof place.id && i < module.build_id_bytes; i++)
    place.id |= (uint64_t)module.build_id[i] << (56 - 8 * i);
  place.offset = address - module.bias;
  return place;
}

static bool signature_matches(struct call_site *site, const struct stack_start *caller, const struct signatures *all) {
  uint32_t frames = walk(site, caller, all->frames);
  for (; site->placed < frames && site->placed < all->frames; site->placed++)
    site->places[site->placed] = place_of(site->frames[site->placed]);
  return signatures_match(all, site->places, site->placed);
}

bool site_matches(struct call_site *site, const struct stack_start *caller, const struct mlrun_place_rule *rule,
                  uint32_t number, const char *text) {
  if (rule->site == MLRUN_PLACE_SIGNATURE) return signature_matches(site, caller, &signatures[number]);
  if (!walk(site, caller, 1)) return false;
  uint64_t address = site->frames[0], key = address << 16 | number << 8;
  uint64_t *answer = &answers[(address ^ address >> 12 ^ number * 977) % kAnswers];
  uint64_t known = __atomic_load_n(answer, __ATOMIC_RELAXED);
  if ((known & ~3ull) == key && known & 1) return known & 2;
  struct code_module module;
  enum module_search found = find_code_module(address - 1, &module);
  if (found == MODULE_BUSY) return false;  // another thread loads a library: asked again at the next call
  bool matches =
      found == MODULE_FOUND &&
      (rule->site == MLRUN_PLACE_LIBRARY ? library_matches(&module, text) : function_matches(&module, address, text));
  __atomic_store_n(answer, key | (matches ? 3 : 1), __ATOMIC_RELAXED);
  return matches;
}
