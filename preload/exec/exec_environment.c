// SPDX-License-Identifier: Apache-2.0
#include "preload/exec/exec_environment.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "preload/base/next_symbol.h"
#include "preload/base/readable.h"
#include "preload/core/program_memory.h"
#include "preload/core/recorder.h"
#include "preload/exec/exec_space.h"
#include "preload/record/channel.h"
#include "runner/events/placement.h"
#include "runner/events/session.h"

#define PRELOAD_PREFIX   "LD_PRELOAD="
#define SESSION_PREFIX   MLRUN_SESSION_VARIABLE "="
#define INJECTION_PREFIX MLRUN_CUDA_INJECTION "="

// An environment that exceeds these limits is passed on unchanged. If it lacks the library or the session, the exec's
// record has MLRUN_EXEC_TOO_LARGE.
enum { kMaxEntries = 4096, kMaxPreloadBytes = 16384 };

static bool has_prefix(const char *text, const char *prefix) { return !strncmp(text, prefix, strlen(prefix)); }

// Entries of LD_PRELOAD are separated by colons or blanks.
static size_t entry_length(const char *entry) { return strcspn(entry, ": "); }

static bool is_own(const char *entry) {
  const char *own = own_library_path();
  size_t length = strlen(own);
  return length == entry_length(entry) && !memcmp(entry, own, length);
}

// Length of the path of the folder that contains this library, libmlrun_cupti.so and libmlrun_placement.so, with the
// slash.
static size_t folder_length(void) {
  const char *own = own_library_path(), *slash = strrchr(own, '/');
  return slash ? (size_t)(slash + 1 - own) : 0;
}

static const char kGpuLibrary[] = MLRUN_CUPTI_LIBRARY, kPlacementLibrary[] = MLRUN_PLACEMENT_LIBRARY;

static bool is_beside(const char *entry, const char *name) {
  size_t folder = folder_length(), length = strlen(name);
  return entry_length(entry) == folder + length && !memcmp(entry, own_library_path(), folder) &&
         !memcmp(entry + folder, name, length);
}

static bool is_gpu_library(const char *entry) { return is_beside(entry, kGpuLibrary); }
static bool is_placement_library(const char *entry) { return is_beside(entry, kPlacementLibrary); }

static bool is_ours(const char *entry) { return is_own(entry) || is_gpu_library(entry) || is_placement_library(entry); }

static bool records_gpu_work(void) { return control->streams & MLRUN_STREAM_GPU; }

static bool places_blocks(void) {
  const char *area = process.arena ? process.arena + MLRUN_CONTROL_BYTES + MLRUN_RULES_BYTES : NULL;
  return area && ((const struct mlrun_placement *)area)->rules_count;
}

static bool names_a_runtime(const char *entry) {
  size_t base = entry_length(entry);
  while (base && entry[base - 1] != '/') base--;
  return is_sanitizer_runtime(entry + base);
}

// Whether the entry is a sanitizer's runtime that we have added: it is right before this library, with an empty entry in
// between, which the dynamic linker skips.
static bool is_lent(const char *entry) {
  const char *behind = entry + entry_length(entry);
  return behind[0] == ':' && behind[1] == ':' && is_own(behind + 2) && names_a_runtime(entry);
}

static const char *next_entry(const char *entry) {
  entry += entry_length(entry);
  return entry + strspn(entry, ": ");
}

static bool any_entry(const char *value, bool (*is)(const char *)) {
  for (const char *entry = value; *entry; entry = next_entry(entry))
    if (is(entry)) return true;
  return false;
}

static bool is_the_programs_runtime(const char *entry) { return names_a_runtime(entry) && !is_lent(entry); }

static enum preload_change change_for(const struct exec_target *target, const char *value, const char *runtime) {
  bool lent = any_entry(value, is_lent);
  bool there = any_entry(value, is_own) && (!records_gpu_work() || any_entry(value, is_gpu_library)) &&
               (!places_blocks() || any_entry(value, is_placement_library));
  bool cannot_load = target->verdict == MLRUN_EXEC_FOREIGN || target->verdict == MLRUN_EXEC_32_BIT ||
                     target->verdict == MLRUN_EXEC_OTHER_LIBC || target->verdict == MLRUN_EXEC_UNREACHABLE;
  if (cannot_load) return any_entry(value, is_ours) ? kPreloadRemove : kPreloadKeep;
  bool can_be_named = own_library_path()[0] == '/';
  if (!can_be_named || (!there && control->state == MLRUN_STOP)) return kPreloadKeep;
  return there && lent == (*runtime != 0) ? kPreloadKeep : kPreloadAdd;
}

static uint64_t page_at(const void *address) { return (uint64_t)address / kReadablePageBytes * kReadablePageBytes; }

// The last page that was found readable.
struct readable_page {
  uint64_t at;
};

static bool page_is_readable(struct readable_page *last, const void *address) {
  if (page_at(address) == last->at) return true;
  if (!is_readable_word((uint64_t)address & ~7ull)) return false;
  last->at = page_at(address);
  return true;
}

static bool is_looked_at(const char *entry) {
  return has_prefix(entry, PRELOAD_PREFIX) || has_prefix(entry, SESSION_PREFIX) || has_prefix(entry, INJECTION_PREFIX);
}

// Whether the part of an environment entry that plan_environment reads is readable: its name, and for the variables that
// it may change the value too.
static bool entry_is_readable(struct readable_page *last, const char *entry) {
  enum { kLongestPrefix = 32 };
  _Static_assert(sizeof SESSION_PREFIX <= kLongestPrefix && sizeof INJECTION_PREFIX <= kLongestPrefix, "all fit");
  for (size_t i = 0;; i++) {
    if ((!i || (uint64_t)(entry + i) % kReadablePageBytes == 0) && !page_is_readable(last, entry + i)) return false;
    if (!entry[i]) return true;
    if (i == kLongestPrefix && !is_looked_at(entry)) return true;
  }
}

// Whether the list and its entries can be read; if not, the exec fails with EFAULT. Neighbours share a page, which is
// checked once. If the kernel may not be asked, only libc's own list is trusted.
static bool can_be_read(char *const *given) {
  struct readable_page entries = {1}, text = {1};  // no page begins there
  if (!may_ask_for_memory()) return given == __environ;
  for (;; given++) {
    if (!page_is_readable(&entries, given) || !page_is_readable(&entries, (const char *)(given + 1) - 1)) return false;
    if (!*given) return true;
    if (!entry_is_readable(&text, *given)) return false;
  }
}

// What the program already has of ours in the list; null: nothing.
struct found_entries {
  const char *session, *injection;
};

static struct found_entries find_entries(struct environment_plan *plan) {
  struct found_entries found = {NULL, NULL};
  for (; plan->given[plan->count]; plan->count++) {
    char *const *entry = &plan->given[plan->count];
    if (has_prefix(*entry, PRELOAD_PREFIX)) plan->preload = entry;
    if (has_prefix(*entry, SESSION_PREFIX)) found.session = *entry;
    if (has_prefix(*entry, INJECTION_PREFIX)) found.injection = *entry;
  }
  return found;
}

// The libraries in the LD_PRELOAD entry.
static const char *preloaded(const struct environment_plan *plan) {
  return plan->preload ? *plan->preload + strlen(PRELOAD_PREFIX) : "";
}

// Returns whether the list changes.
static bool decide(struct environment_plan *plan, struct found_entries found, const struct exec_target *target) {
  const char *value = preloaded(plan);
  plan->runtime = any_entry(value, is_the_programs_runtime) ? "" : target->runtime;
  plan->change = change_for(target, value, plan->runtime);
  bool adds = plan->change != kPreloadRemove && control->state != MLRUN_STOP;
  plan->add_session = !found.session && adds;
  plan->add_injection = records_gpu_work() && !found.injection && adds && own_library_path()[0] == '/';
  return plan->change != kPreloadKeep || plan->add_session || plan->add_injection;
}

// How much memory the changed list needs. One that does not fit is left as it is.
static void size_up(struct environment_plan *plan) {
  const char *value = preloaded(plan);
  size_t own = strlen(own_library_path()) + 1, gpu = folder_length() + sizeof kGpuLibrary;
  size_t placing = folder_length() + sizeof kPlacementLibrary;
  size_t text = strlen(PRELOAD_PREFIX) + own + gpu + placing + strlen(value) + strlen(plan->runtime) + 4 +
                strlen(INJECTION_PREFIX) + gpu;
  bool fits = plan->count <= kMaxEntries && text <= kMaxPreloadBytes;
  if (fits) plan->words = plan->count + 4 + text / sizeof(char *) + 1;
  bool lacks_own = plan->change == kPreloadAdd && !any_entry(value, is_own);
  plan->untraced = !fits && (lacks_own || plan->add_session);
}

struct environment_plan plan_environment(char *const *given, const struct exec_target *target) {
  static char *const empty[] = {NULL};
  if (!process.session) return (struct environment_plan){.given = given};
  struct environment_plan plan = {.given = given ? given : empty};
  if (!can_be_read(plan.given)) return plan;
  struct found_entries found = find_entries(&plan);
  plan.nested = found.session && strcmp(found.session, process.session);
  if (!plan.nested && decide(&plan, found, target)) size_up(&plan);
  return plan;
}

static char *append(char *at, const char *text, size_t length) {
  memcpy(at, text, length);
  at[length] = ':';
  return at + length + 1;
}

static char *append_beside(char *at, const char *name) {
  memcpy(at, own_library_path(), folder_length());
  return append(at + folder_length(), name, strlen(name));
}

static char *append_ours(char *at) {
  at = append(at, own_library_path(), strlen(own_library_path()));
  if (records_gpu_work()) at = append_beside(at, kGpuLibrary);
  return places_blocks() ? append_beside(at, kPlacementLibrary) : at;
}

static char *append_lent(char *at, const char *runtime) {
  at = append(at, runtime, strlen(runtime));
  *at++ = ':';
  return at;
}

// The program's entry after which this library is inserted; null: at the front.
static const char *last_runtime(const char *value) {
  const char *last = NULL;
  for (const char *entry = value; *entry; entry = next_entry(entry))
    if (is_the_programs_runtime(entry)) last = entry;
  return last;
}

// Writes the changed LD_PRELOAD entry at `at`. Returns its end; null: it is empty.
static char *write_preload(const struct environment_plan *plan, char *at) {
  const char *value = preloaded(plan);
  const char *behind = plan->change == kPreloadAdd ? last_runtime(value) : NULL;
  char *start = at + strlen(PRELOAD_PREFIX);
  memcpy(at, PRELOAD_PREFIX, strlen(PRELOAD_PREFIX));
  at = start;
  if (plan->change == kPreloadAdd && *plan->runtime) at = append_lent(at, plan->runtime);
  if (plan->change == kPreloadAdd && !behind) at = append_ours(at);
  for (const char *entry = value; *entry; entry = next_entry(entry)) {
    if (entry_length(entry) && !is_ours(entry) && !is_lent(entry)) at = append(at, entry, entry_length(entry));
    if (entry == behind) at = append_ours(at);
  }
  if (at == start) return NULL;
  at[-1] = 0;
  return at;
}

static void write_injection(char *at) {
  memcpy(at, INJECTION_PREFIX, strlen(INJECTION_PREFIX));
  append_beside(at + strlen(INJECTION_PREFIX), kGpuLibrary)[-1] = 0;
}

void plan_environment_space(struct environment_plan *plan) {
  if (!plan->words) return;
  plan->space = exec_space_take((plan->words + 1) * sizeof(char *));
  if (plan->space) return;
  plan->words = 0;
  plan->untraced = plan->change == kPreloadAdd || plan->add_session;
}

char *const *make_environment(const struct environment_plan *plan) {
  char **space = plan->space;
  if (!plan->words) return plan->given;
  char *text = (char *)(space + plan->count + 4);
  char *behind = plan->change != kPreloadKeep ? write_preload(plan, text) : NULL;
  size_t count = 0;
  for (size_t i = 0; i < plan->count; i++)
    if (plan->change == kPreloadKeep || &plan->given[i] != plan->preload) space[count++] = plan->given[i];
  if (behind) space[count++] = text;
  if (plan->add_injection) {
    char *injection = behind ? behind : text;
    write_injection(injection);
    space[count++] = injection;
  }
  if (plan->add_session) space[count++] = (char *)process.session;
  space[count] = NULL;
  return space;
}
