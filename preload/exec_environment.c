// SPDX-License-Identifier: Apache-2.0
#include "preload/exec_environment.h"

#include <stdbool.h>
#include <string.h>

#include "preload/channel.h"
#include "preload/next_symbol.h"
#include "preload/recorder.h"
#include "runner/events/session.h"

#define PRELOAD_PREFIX "LD_PRELOAD="
#define SESSION_PREFIX MLRUN_SESSION_VARIABLE "="

// Beyond these a copy on the stack would be rash: the program is executed as it asks to be.
enum { kMaxEntries = 4096, kMaxPreloadBytes = 16384 };

static bool has_prefix(const char *text, const char *prefix) { return !strncmp(text, prefix, strlen(prefix)); }

// Entries of LD_PRELOAD are separated by colons or blanks.
static size_t entry_length(const char *entry) { return strcspn(entry, ": "); }

static bool is_ours(const char *entry) {
  const char *own = own_library_path();
  size_t length = strlen(own);
  return length == entry_length(entry) && !memcmp(entry, own, length);
}

static bool is_asan(const char *entry) {
  size_t length = entry_length(entry), base = length;
  while (base && entry[base - 1] != '/') base--;
  return length - base > 7 && !memcmp(entry + base, "libasan", 7);
}

static const char *next_entry(const char *entry) {
  entry += entry_length(entry);
  return entry + strspn(entry, ": ");
}

static bool names_us(const char *value) {
  for (const char *entry = value; *entry; entry = next_entry(entry))
    if (is_ours(entry)) return true;
  return false;
}

static enum preload_change change_for(enum mlrun_exec_target verdict, const char *value) {
  bool there = value && names_us(value);
  if (verdict == MLRUN_EXEC_FOREIGN || verdict == MLRUN_EXEC_UNREACHABLE) return there ? kPreloadRemove : kPreloadKeep;
  bool can_be_named = own_library_path()[0] == '/';
  return there || !can_be_named || control->state == MLRUN_STOP ? kPreloadKeep : kPreloadAdd;
}

struct environment_plan plan_environment(char *const *given, enum mlrun_exec_target verdict) {
  static char *const empty[] = {NULL};
  if (!process.session) return (struct environment_plan){.given = given};
  struct environment_plan plan = {.given = given ? given : empty};
  const char *session = NULL;
  for (; plan.given[plan.count]; plan.count++) {
    char *const *entry = &plan.given[plan.count];
    if (has_prefix(*entry, PRELOAD_PREFIX)) plan.preload = entry;
    if (has_prefix(*entry, SESSION_PREFIX)) session = *entry;
  }
  if (session && strcmp(session, process.session)) return plan;
  const char *value = plan.preload ? *plan.preload + strlen(PRELOAD_PREFIX) : NULL;
  plan.change = change_for(verdict, value);
  plan.add_session = !session && plan.change != kPreloadRemove && control->state != MLRUN_STOP;
  if (plan.change == kPreloadKeep && !plan.add_session) return plan;
  size_t text = strlen(PRELOAD_PREFIX) + strlen(own_library_path()) + (value ? strlen(value) : 0) + 3;
  if (plan.count <= kMaxEntries && text <= kMaxPreloadBytes) plan.words = plan.count + 3 + text / sizeof(char *) + 1;
  return plan;
}

static char *append(char *at, const char *text, size_t length) {
  memcpy(at, text, length);
  at[length] = ':';
  return at + length + 1;
}

// Behind which entry ours goes: null for the front.
static const char *last_asan(const char *value) {
  const char *last = NULL;
  for (const char *entry = value; *entry; entry = next_entry(entry))
    if (is_asan(entry)) last = entry;
  return last;
}

// Writes the changed LD_PRELOAD entry at `at`. False: nothing is left in it.
static bool write_preload(const struct environment_plan *plan, char *at) {
  const char *value = plan->preload ? *plan->preload + strlen(PRELOAD_PREFIX) : "", *own = own_library_path();
  const char *behind = plan->change == kPreloadAdd ? last_asan(value) : NULL;
  char *start = at + strlen(PRELOAD_PREFIX);
  memcpy(at, PRELOAD_PREFIX, strlen(PRELOAD_PREFIX));
  at = start;
  if (plan->change == kPreloadAdd && !behind) at = append(at, own, strlen(own));
  for (const char *entry = value; *entry; entry = next_entry(entry)) {
    if (entry_length(entry) && !is_ours(entry)) at = append(at, entry, entry_length(entry));
    if (entry == behind) at = append(at, own, strlen(own));
  }
  if (at == start) return false;
  at[-1] = 0;
  return true;
}

char *const *make_environment(const struct environment_plan *plan, char **space) {
  if (!plan->words) return plan->given;
  char *text = (char *)(space + plan->count + 3);
  bool replace = plan->change != kPreloadKeep && write_preload(plan, text);
  size_t count = 0;
  for (size_t i = 0; i < plan->count; i++)
    if (plan->change == kPreloadKeep || &plan->given[i] != plan->preload) space[count++] = plan->given[i];
  if (replace) space[count++] = text;
  if (plan->add_session) space[count++] = (char *)process.session;
  space[count] = NULL;
  return space;
}
