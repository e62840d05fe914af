// SPDX-License-Identifier: Apache-2.0
#include "preload/unwind/code_modules.h"

#include <link.h>
#include <string.h>

#include "preload/base/next_symbol.h"
#include "preload/base/readable.h"
#include "preload/core/recorder.h"
#include "preload/unwind/elf_module.h"
#include "preload/unwind/stack_bounds.h"
#include "preload/unwind/unwind_cache.h"
#include "runner/events/producer.h"

enum { kModulesMax = 2048, kListMax = 8192 };

extern struct r_debug _r_debug __attribute__((weak));
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

struct module_table {
  uint32_t count;
  struct code_module modules[kModulesMax];  // by start
};

static struct module_table *known, *fresh;  // fresh: belongs to the refreshing thread
static uint32_t sequence;                   // of `known`; odd: it is being written
static uint64_t refresher;                  // 0, or an address in the frame of the refreshing thread
static uint32_t next_number = 1;
static uint64_t last_that_stays, last_met;  // entries of the linker's list

// struct dl_find_object of <dlfcn.h>, which older headers lack.
struct linked_object {
  unsigned long long flags;
  void *start, *end;
  const struct link_map *entry;
  void *eh_frame;
  unsigned long long reserved[7];
};
static int (*find_object)(void *address, struct linked_object *object);  // null: glibc before 2.35

// Libraries that the linker finds by address and that its list lacks, such as those of dlmopen's namespaces: a bit by a hash of their entries. The
// list is not read again for them at each call.
static uint64_t beyond_list;
static uint64_t bit_of(uint64_t entry) { return 1ull << (entry * 0x9e3779b97f4a7c15ull >> 58); }

HOT uint32_t code_generation;
HOT struct own_code own_code[kOwnLibraries];

// Index of the first module that ends behind `address`.
static uint32_t place_of(const struct module_table *table, uint64_t address) {
  uint32_t low = 0, high = table->count < kModulesMax ? table->count : kModulesMax;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (table->modules[middle].end <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static enum module_search search(uint64_t address, struct code_module *module) {
  uint32_t before = __atomic_load_n(&sequence, __ATOMIC_ACQUIRE);
  if (before & 1) return MODULE_BUSY;
  uint32_t place = place_of(known, address);
  bool inside = place < kModulesMax && place < known->count && known->modules[place].start <= address;
  if (inside) *module = known->modules[place];
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  if (__atomic_load_n(&sequence, __ATOMIC_RELAXED) != before) return MODULE_BUSY;
  return inside ? MODULE_FOUND : MODULE_NONE;
}

// One thread refreshes at a time. A refresher whose frame is deeper than ours on this same stack was left by a longjmp,
// and is replaced.
static bool begin_refresh(void) {
  uint64_t here = (uint64_t)__builtin_frame_address(0);
  uint64_t holder = __atomic_load_n(&refresher, __ATOMIC_RELAXED);
  if (holder && !(holder < here && is_own_stack(holder) && is_own_stack(here))) return false;
  return __atomic_compare_exchange_n(&refresher, &holder, here, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static bool is_of(const struct code_module *module, uint64_t at, const struct link_map *object) {
  return module->object == at && module->bias == object->l_addr && module->dynamic == (uint64_t)object->l_ld &&
         module->name == (uint64_t)object->l_name;
}

// The known module of a linker's entry. The first module with code at or above the entry's base is nearly always it.
static const struct code_module *find_known(uint64_t at, const struct link_map *object) {
  uint32_t likely_place = place_of(known, object->l_addr);
  if (likely_place < known->count && is_of(&known->modules[likely_place], at, object))
    return &known->modules[likely_place];
  for (uint32_t i = 0; i < known->count; i++)
    if (is_of(&known->modules[i], at, object)) return &known->modules[i];
  return NULL;
}

static void insert(const struct code_module *module) {
  uint32_t place = place_of(fresh, module->start);
  if (fresh->count == kModulesMax) return;
  memmove(&fresh->modules[place + 1], &fresh->modules[place], (fresh->count - place) * sizeof *module);
  fresh->modules[place] = *module;
  fresh->count++;
}

// The linker's entry of the module is known to be the one that it was.
static bool is_unchanged(const struct code_module *module) {
  return module->stays || (module->header && is_readable_word(module->header) && is_same_file(module));
}

static void note_own_code(const struct code_module *module) {
  const struct own_code code = {module->start, module->end - module->start};
  uint64_t other = (uint64_t)mlrun_producer_user;
  if (module->dynamic == (uint64_t)_DYNAMIC) own_code[0] = code;
  if (other && other - code.start < code.bytes) own_code[1] = code;
}

static void take_object(uint64_t at, const struct link_map *object, bool stays) {
  struct code_module module;
  const struct code_module *old = find_known(at, object);
  if (old && is_unchanged(old)) {
    insert(old);
    return;
  }
  if (!read_elf_module(at, object, &module)) return;
  module.number = next_number++;
  module.stays = stays;
  insert(&module);
  note_own_code(&module);
}

// Fills `fresh` from the linker's list. False: the list changed meanwhile.
static bool read_list(void) {
  fresh->count = 0;
  bool stays = true;
  uint64_t at = (uint64_t)_r_debug.r_map;
  for (int i = 0; at && i < kListMax; i++) {
    if (!is_readable_range(at, sizeof(struct link_map))) return false;
    struct link_map object;
    memcpy(&object, (const void *)at, sizeof object);
    take_object(at, &object, stays);
    if (at == last_that_stays) stays = false;
    last_met = at;
    at = (uint64_t)object.l_next;
  }
  return _r_debug.r_state == RT_CONSISTENT;
}

static bool is_still_there(const struct code_module *module) {
  uint32_t place = place_of(fresh, module->start);
  return place < fresh->count && fresh->modules[place].number == module->number;
}

static void take_over(void) {
  bool unloaded = false;
  for (uint32_t i = 0; i < known->count && !unloaded; i++) unloaded = !is_still_there(&known->modules[i]);
  __atomic_fetch_add(&sequence, 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  known->count = fresh->count;
  memcpy(known->modules, fresh->modules, fresh->count * sizeof *fresh->modules);
  __atomic_fetch_add(&sequence, 1, __ATOMIC_RELEASE);
  if (!unloaded) return;
  __atomic_fetch_add(&code_generation, 1, __ATOMIC_RELAXED);
  unwind_cache_clear();
}

// Reads the linker's list again and replaces the table. False: not possible now.
static COLD bool refresh(void) {
  if (!&_r_debug || !recording_system_calls_allowed() || in_vfork_child()) return false;
  if (_r_debug.r_state != RT_CONSISTENT || !begin_refresh()) return false;
  bool whole = !(sequence & 1) && read_list();
  if (whole) take_over();
  __atomic_store_n(&refresher, 0, __ATOMIC_RELEASE);
  return whole;
}

// Whether the linker's list may have new objects since it was read: these are appended. If the last object known was
// removed, its predecessor no longer points to it. Removals before it are not seen.
static bool has_list_changed(void) {
  const struct link_map *last = (const struct link_map *)last_met;
  if (!last || !is_readable_range(last_met, sizeof *last)) return true;
  const struct link_map *before = last->l_prev;
  if (before && !is_readable_range((uint64_t)before, sizeof *before)) return true;
  return last->l_next || (before && before->l_next != last);
}

// What the linker says, without a system call, about what was found: that it is true now, that the table lacks the library at
// this address, or neither. Code on this thread's stack is not unloaded meanwhile.
enum answer { CONFIRMED, LACKING, UNCONFIRMED };
static enum answer ask_linker(enum module_search found, const struct code_module *module, uint64_t address,
                              uint64_t *entry) {
  struct linked_object now;
  if (!find_object) return UNCONFIRMED;
  if (find_object((void *)address, &now) != 0)  // NOLINT(performance-no-int-to-ptr)
    return found == MODULE_NONE ? CONFIRMED : UNCONFIRMED;
  *entry = (uint64_t)now.entry;
  if (found == MODULE_NONE)
    return __atomic_load_n(&beyond_list, __ATOMIC_RELAXED) & bit_of(*entry) ? UNCONFIRMED : LACKING;
  bool same = is_of(module, *entry, now.entry) && module->header == (uint64_t)now.start && is_same_file(module);
  return same ? CONFIRMED : UNCONFIRMED;
}

// The same by system calls.
static bool is_up_to_date(enum module_search found, const struct code_module *module) {
  if (found == MODULE_NONE) return !has_list_changed();
  const struct link_map *entry = (const struct link_map *)module->object;  // NOLINT(performance-no-int-to-ptr)
  return is_readable_range(module->object, sizeof *entry) && is_of(module, module->object, entry) &&
         is_unchanged(module);
}

enum module_search find_code_module(uint64_t address, struct code_module *module) {
  enum module_search found = search(address, module);
  if (found == MODULE_BUSY) return found;
  if (found == MODULE_FOUND && module->stays) return found;
  uint64_t entry = 0;
  enum answer answer = ask_linker(found, module, address, &entry);
  if (answer == CONFIRMED) return found;
  if (!recording_system_calls_allowed()) return found == MODULE_NONE ? found : MODULE_BUSY;
  if (answer != LACKING && is_up_to_date(found, module)) return found;
  if (!refresh()) return MODULE_BUSY;
  found = search(address, module);
  if (found == MODULE_NONE && answer == LACKING) __atomic_fetch_or(&beyond_list, bit_of(entry), __ATOMIC_RELAXED);
  return found;
}

size_t code_modules_bytes(void) { return 2 * sizeof(struct module_table); }

void code_modules_begin(void *memory) {
  known = memory;
  fresh = known + 1;
  find_object = (int (*)(void *, struct linked_object *))next_symbol("_dl_find_object");
  uint64_t at = &_r_debug ? (uint64_t)_r_debug.r_map : 0;
  for (; at; at = (uint64_t)((const struct link_map *)at)->l_next) last_that_stays = at;
  refresh();
}

void code_modules_after_fork(void) {
  refresher = 0;
  if (!(sequence & 1)) return;
  known->count = 0;
  __atomic_fetch_add(&sequence, 1, __ATOMIC_RELEASE);
}

void code_modules_changed(void) {
  if (known) refresh();
}
