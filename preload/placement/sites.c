// SPDX-License-Identifier: Apache-2.0
#include "preload/placement/sites.h"

#include <stddef.h>
#include <string.h>

#include "preload/base/glob.h"
#include "preload/core/recorder.h"
#include "preload/placement/pages.h"
#include "preload/placement/site_answers.h"
#include "preload/placement/start.h"
#include "preload/placement/symbol_at.h"
#include "preload/unwind/unwind_cache.h"
#include "runner/events/session.h"

enum { kCacheBytes = kCacheEntries * (int)sizeof(uint64_t) };

// Defined here for the stack walker (unwind/), which reads it; the recorder has its own.
__thread struct thread_state this_thread __attribute__((tls_model("initial-exec")));

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
static bool is_of_mlrun(const struct call_frame *frame) {
  return is_own_code(frame->address) || (frame->found == MODULE_FOUND && frame->module.stays &&
                                         !strcmp(module_name(&frame->module), MLRUN_PRELOAD_LIBRARY));
}

// The library of the frame before is mostly this one's too, and is not unloaded as long as that frame is on the stack.
static void enter_frame(struct call_frame *frame, const struct stack_walk *at) {
  uint64_t address = stack_walk_address(at);
  frame->address = at->pc;
  if (frame->found == MODULE_FOUND && address - frame->module.start < frame->module.end - frame->module.start) return;
  frame->found = find_code_module(address, &frame->module);
}

static struct code_place place_of(const struct call_frame *frame) {
  struct code_place place = {0, 0};
  if (frame->found != MODULE_FOUND) return place;
  for (uint32_t i = 0; i < sizeof place.id && i < frame->module.build_id_bytes; i++)
    place.id |= (uint64_t)frame->module.build_id[i] << (56 - 8 * i);
  place.offset = frame->address - frame->module.bias;
  return place;
}

// Fills in up to `wanted` frames. The library of each is looked up before the step out of it: rows of an unloaded one are forgotten by that.
static void walk(struct call_site *site, const struct stack_start *caller, uint32_t wanted) {
  struct stack_walk at;
  struct call_frame frame;
  if (site->asked >= wanted || !unwind_cache) return;
  site->asked = wanted;
  site->known = 0;
  frame.found = MODULE_NONE;
  if (!stack_walk_begin(&at, caller)) return;
  do {
    enter_frame(&frame, &at);
    if (!site->known && is_of_mlrun(&frame)) continue;
    if (!site->known) site->caller = frame;
    site->places[site->known++] = place_of(&frame);
  } while (site->known < wanted && stack_walk_next(&at));
}

static bool library_matches(const struct code_module *module, const char *pattern) {
  const char *name = module_name(module);
  return glob_matches(pattern, name, strlen(name));
}

static bool function_matches(const struct call_frame *caller, uint32_t rule, const char *pattern) {
  const struct code_module *module = &caller->module;
  site_question question = ask_site(module->number, caller->address - module->start, rule);
  enum site_answer answer = find_site_answer(question);
  if (answer != SITE_UNKNOWN) return answer == SITE_MATCHES;
  const void *dynamic = (const void *)module->dynamic;  // NOLINT(performance-no-int-to-ptr)
  bool matches = any_symbol_matches(dynamic, module->bias, caller->address - 1, pattern);
  keep_site_answer(question, matches);
  return matches;
}

bool site_matches(struct call_site *site, const struct stack_start *caller, const struct mlrun_place_rule *rule,
                  uint32_t number, const char *text) {
  bool is_signature = rule->site == MLRUN_PLACE_SIGNATURE;
  walk(site, caller, is_signature ? signatures[number].frames : 1);
  if (is_signature) return signatures_match(&signatures[number], site->places, site->known);
  // MODULE_BUSY: another thread loads a library; asked again at the next call.
  if (!site->known || site->caller.found != MODULE_FOUND) return false;
  return rule->site == MLRUN_PLACE_LIBRARY ? library_matches(&site->caller.module, text)
                                           : function_matches(&site->caller, number, text);
}
