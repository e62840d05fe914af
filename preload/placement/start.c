// SPDX-License-Identifier: Apache-2.0
#include "preload/placement/start.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/base/next_symbol.h"
#include "preload/base/raw_syscall.h"
#include "preload/base/real_allocator.h"
#include "preload/base/real_function.h"
#include "preload/core/confinement.h"
#include "preload/placement/file_heap.h"
#include "preload/placement/heap.h"
#include "preload/placement/memkind_heap.h"
#include "preload/placement/memory_locks.h"
#include "preload/placement/pages.h"
#include "preload/placement/rules.h"
#include "preload/start/inherited_filters.h"
#include "preload/start/session_arena.h"
#include "runner/events/arena.h"
#include "runner/events/placed_mappings.h"

enum { kMappedBytes = MLRUN_CONTROL_BYTES + MLRUN_RULES_BYTES + MLRUN_PLACEMENT_BYTES };

extern char **__environ;

bool counts_are_shown;
char program_name[kProgramNameBytes];
static uint32_t starts;  // 0: start_placement has not run, 1: a thread runs it, 2: done
static struct mlrun_placement *shared;
static uint32_t own_slot = UINT32_MAX;  // UINT32_MAX: none
static uint32_t own_pid;                // as this process sees it; 0: unknown
static uint64_t own_namespace;          // inode of its pid namespace; 0: unknown
static uint32_t *memory_owner;  // own_pid, on a page that the kernel wipes in a forked child; null: there is none
static uint32_t vdso_page;      // of struct mlrun_place_slot

// Maps the beginning of the arena. Null: not possible, or inherited seccomp filters might kill for the calls (inherited_filters.h).
static char *map_arena(const char *session) {
  static struct session_arena arena;
  if (!session_parse(session, &arena) || inherited_filters() > arena.filters) return NULL;
  long fd = raw_syscall4(SYS_openat, AT_FDCWD, (long)arena.path, O_RDWR | O_CLOEXEC, 0);
  if (fd < 0) return NULL;
  struct stat status;
  long got = -1;
  if (raw_syscall2(SYS_fstat, fd, (long)&status) == 0 && status.st_size >= kMappedBytes)
    got = raw_syscall(SYS_mmap, 0, kMappedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  raw_syscall1(SYS_close, fd);
  return got < 0 && got >= -4095 ? NULL : (char *)got;
}

static struct mlrun_placement *find_rules(void) {
  const char *session = session_entry(__environ);
  char *arena = session ? map_arena(session) : NULL;
  if (!arena) return NULL;
  const struct mlrun_control *control = (const struct mlrun_control *)arena;
  struct mlrun_placement *found = (struct mlrun_placement *)(arena + MLRUN_CONTROL_BYTES + MLRUN_RULES_BYTES);
  if (control->magic == MLRUN_ARENA_MAGIC && control->abi == MLRUN_ABI && found->rules_count) return found;
  raw_syscall2(SYS_munmap, (long)arena, kMappedBytes);
  return NULL;
}

static bool open_heaps(const struct mlrun_placement *area) {
  const struct mlrun_place_rule *rules = (const void *)((const char *)area + area->rules_offset);
  if (!window_choose()) return false;
  for (uint32_t i = 0; i < area->rules_count; i++)
    if (!heap_open(i, area->rules_count, &rules[i], (const char *)area + rules[i].folder_text)) return false;
  window.bytes = (uintptr_t)kSegments << kSegmentBits;
  return true;
}

// The main process is the first one that reads the rules: mlrun has started it.
static bool is_main_process(void) {
  uint32_t none = 0;
  __atomic_compare_exchange_n(&shared->main_pid, &none, own_pid, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return !none || none == own_pid;
}

static void map_memory_owner(void) {
  uint32_t *page = pages_map(NULL, kPageBytes);
  if (page && !raw_syscall3(SYS_madvise, (long)page, kPageBytes, MADV_WIPEONFORK)) memory_owner = page;
}

// Under a seccomp filter of the program, which may kill for these calls, both numbers stay unknown.
static void find_own_pid(void) {
  struct stat status = {0};
  own_pid = 0;
  own_namespace = 0;
  if (is_confined()) return;
  own_pid = (uint32_t)raw_syscall0(SYS_getpid);
  if (memory_owner) *memory_owner = own_pid;
  if (raw_syscall4(SYS_newfstatat, AT_FDCWD, (long)"/proc/self/ns/pid", (long)&status, 0) == 0)
    own_namespace = status.st_ino;
}

static bool begin_rules(void) {
  shared = find_rules();
  if (!shared) return false;  // perhaps because of inherited filters, which may kill for what follows
  map_memory_owner();
  find_own_pid();
  __atomic_fetch_add(&shared->processes, 1, __ATOMIC_RELAXED);
  if (open_heaps(shared)) return true;
  __atomic_fetch_add(&shared->without_memory, 1, __ATOMIC_RELAXED);
  return false;
}

// A copy: the name is in argv[0], which programs overwrite for ps.
static void name_program(void) {
  char *const *name = libc_variable("program_invocation_short_name");
  if (name && *name) memcpy(program_name, *name, strnlen(*name, sizeof program_name - 1));
}

static void find_vdso(void) {
  LIBC(unsigned long, getauxval, unsigned long);
  vdso_page = (uint32_t)(libc_getauxval(AT_SYSINFO_EHDR) / kPageBytes);
}

// A free or realloc in front of ours would get placed blocks, which it does not know: there are none then.
static void choose_rules(void) {
  static bool is_noted;  // in this process or the one that has forked it
  bool places_blocks = !real_allocator.free_in_front && !real_allocator.realloc_in_front;
  if (!rules_choose(shared, program_name, is_main_process(), places_blocks) || is_noted) return;
  is_noted = true;
  __atomic_fetch_add(&shared->without_block_rules, 1, __ATOMIC_RELAXED);
}

uint32_t owner_of_memory(void) { return memory_owner ? *memory_owner : 0; }

void start_placement(void) {
  uint32_t before = 0;
  if (!__environ || !__atomic_compare_exchange_n(&starts, &before, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return;
  if (!real_allocator.malloc) real_allocator_resolve();
  name_program();
  find_vdso();
  if (begin_rules()) {
    choose_rules();
  } else {
    window.bytes = 0;
    least_bytes = SIZE_MAX;
  }
  __atomic_store_n(&starts, 2, __ATOMIC_RELEASE);
}

static struct mlrun_place_slot *slot_at(uint32_t number) {
  return (struct mlrun_place_slot *)((char *)shared + shared->slots_offset + (size_t)number * shared->slot_bytes);
}

// Takes an unused slot of those from `least` on; in turn, by `wanted`. UINT32_MAX: none is left.
static uint32_t take_slot(uint32_t least, uint32_t wanted) {
  uint32_t count = shared->slots_count - least;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t number = least + (wanted + i) % count, unused = MLRUN_PLACE_UNUSED;
    if (__atomic_load_n(&slot_at(number)->state, __ATOMIC_RELAXED) == MLRUN_PLACE_UNUSED &&
        __atomic_compare_exchange_n(&slot_at(number)->state, &unused, MLRUN_PLACE_BEING_TAKEN, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED))
      return number;
  }
  return UINT32_MAX;
}

// Moves the counts to a slot from `least` on. False: none is left.
static bool use_slot(uint32_t least) {
  uint32_t before = __atomic_fetch_add(&shared->slots_wanted, 1, __ATOMIC_RELAXED), number = take_slot(least, before);
  if (number == UINT32_MAX) return false;
  struct mlrun_place_slot *slot = slot_at(number);
  slot->pid = own_pid;
  slot->pid_namespace = own_namespace;
  slot->window = window.base;
  slot->window_bytes = window.bytes;
  slot->mappings_left_out = 0;
  slot->number = before + 1;
  slot->vdso_page = vdso_page;
  heaps_show_counts((struct mlrun_place_count *)(slot + 1));
  __atomic_store_n(&slot->state, MLRUN_PLACE_TAKEN, __ATOMIC_RELEASE);
  own_slot = number;
  return true;
}

void show_counts(void) {
  if (__atomic_exchange_n(&counts_are_shown, true, __ATOMIC_ACQ_REL)) return;
  if (!use_slot(0)) __atomic_fetch_add(&shared->not_counted, 1, __ATOMIC_RELAXED);
}

// Each allocation from the heap calls this while its cache has no counts: one comparison must do if all are in use.
struct mlrun_place_cache *take_cache_counts(uint32_t rule, bool is_further) {
  uint32_t most = is_further ? MLRUN_PLACE_CACHES / 2 : MLRUN_PLACE_CACHES;
  if (own_slot == UINT32_MAX || __atomic_load_n(&shared->caches_taken, __ATOMIC_RELAXED) >= most) return NULL;
  struct mlrun_place_cache *all = (struct mlrun_place_cache *)((char *)shared + MLRUN_PLACE_CACHES_OFFSET);
  uint32_t before = __atomic_fetch_add(&shared->caches_taken, 1, __ATOMIC_RELAXED);
  for (uint32_t i = 0; i < MLRUN_PLACE_CACHES && before < MLRUN_PLACE_CACHES; i++) {
    struct mlrun_place_cache *counts = &all[(before + i) % MLRUN_PLACE_CACHES];
    uint32_t unused = 0;
    if (__atomic_load_n(&counts->slot, __ATOMIC_RELAXED) ||
        !__atomic_compare_exchange_n(&counts->slot, &unused, MLRUN_PLACE_CACHE_BUSY, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
      continue;
    counts->rule = rule;
    __atomic_store_n(&counts->slot, own_slot + 1, __ATOMIC_RELEASE);
    return counts;
  }
  __atomic_fetch_sub(&shared->caches_taken, 1, __ATOMIC_RELAXED);
  return NULL;
}

// All recorded mappings of this process are in [noted_from, noted_to).
static uint64_t noted_from = UINT64_MAX, noted_to;

static struct mlrun_place_mappings *noted_mappings(void) {
  return (struct mlrun_place_mappings *)((char *)shared + MLRUN_PLACE_MAPPINGS_OFFSET);
}

static uint64_t whole_pages(size_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes; }

// Two threads at once: a mapping may be left outside, which only keeps it in the record for longer than it is there.
static void widen_noted(uint64_t from, uint64_t to) {
  if (from < __atomic_load_n(&noted_from, __ATOMIC_RELAXED)) __atomic_store_n(&noted_from, from, __ATOMIC_RELAXED);
  if (to > __atomic_load_n(&noted_to, __ATOMIC_RELAXED)) __atomic_store_n(&noted_to, to, __ATOMIC_RELAXED);
}

static void note_left_out(uint32_t slot, uint32_t rule) {
  if (slot < shared->slots_count && rule < MLRUN_PLACE_RULES)
    __atomic_fetch_or(&slot_at(slot)->mappings_left_out, 1ull << rule, __ATOMIC_RELAXED);
}

// Takes an entry whose number is `number`: until it is written, no other thread or process does. 0 takes an unused one.
static bool take_entry(struct mlrun_place_mapping *mapping, uint64_t number) {
  return __atomic_compare_exchange_n(&mapping->number, &number, MLRUN_PLACE_BUSY | own_slot, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED);
}

// Takes an unused entry, entry `first` if possible, else that of the oldest mapping. Null: others were faster each time.
static struct mlrun_place_mapping *take_any_entry(uint64_t first) {
  enum { kTries = 4 };
  for (int tries = 0; tries < kTries; tries++) {
    struct mlrun_place_mapping *oldest = NULL;
    uint64_t least = MLRUN_PLACE_BUSY;
    for (uint64_t i = 0; i < MLRUN_PLACE_MAPPINGS; i++) {
      struct mlrun_place_mapping *mapping = &noted_mappings()->entry[(first + i) % MLRUN_PLACE_MAPPINGS];
      uint64_t number = __atomic_load_n(&mapping->number, __ATOMIC_RELAXED);
      if (number == 0 && take_entry(mapping, 0)) return mapping;
      if (number == 0 || number >= least) continue;
      least = number;
      oldest = mapping;
    }
    if (!oldest || !take_entry(oldest, least)) continue;
    note_left_out(oldest->slot, oldest->rule);
    return oldest;
  }
  return NULL;
}

static void fill_entry(struct mlrun_place_mapping *mapping, uint32_t rule, uint64_t at, uint64_t bytes,
                       uint64_t number) {
  mapping->at = at;
  mapping->bytes = bytes;
  mapping->slot = own_slot;
  mapping->rule = rule;
  __atomic_store_n(&mapping->number, number, __ATOMIC_RELEASE);
}

void note_mapping(uint32_t rule, const void *at, size_t bytes) {
  if (own_slot == UINT32_MAX) return;
  uint64_t before = __atomic_fetch_add(&noted_mappings()->made, 1, __ATOMIC_RELAXED);
  struct mlrun_place_mapping *mapping = take_any_entry(before);
  if (!mapping) {
    note_left_out(own_slot, rule);
    return;
  }
  fill_entry(mapping, rule, (uint64_t)at, whole_pages(bytes), before + 1);
  widen_noted((uint64_t)at, (uint64_t)at + whole_pages(bytes));
}

// Finds the next mapping of this process from entry `*i` on that overlaps [from, to), and takes it until give_back().
static struct mlrun_place_mapping *take_overlapping(uint64_t from, uint64_t to, uint64_t *i, uint64_t *number) {
  struct mlrun_place_mappings *all = noted_mappings();
  uint64_t made = __atomic_load_n(&all->made, __ATOMIC_RELAXED);
  for (; *i < made && *i < MLRUN_PLACE_MAPPINGS; ++*i) {
    struct mlrun_place_mapping *mapping = &all->entry[*i];
    *number = __atomic_load_n(&mapping->number, __ATOMIC_ACQUIRE);
    if (*number == 0 || *number >= MLRUN_PLACE_BUSY) continue;
    if (mapping->slot != own_slot || mapping->at >= to || mapping->at + mapping->bytes <= from) continue;
    // Fails if another process has just taken this entry for a mapping of its own.
    if (take_entry(mapping, *number)) return mapping;
  }
  return NULL;
}

// An entry of which nothing is left is unused again.
static void give_back(struct mlrun_place_mapping *mapping, uint64_t number) {
  __atomic_store_n(&mapping->number, mapping->bytes ? number : 0, __ATOMIC_RELEASE);
}

int forget_mapping(const void *at, size_t bytes) {
  uint64_t from = (uint64_t)at, to = from + whole_pages(bytes), number;
  if (own_slot == UINT32_MAX || bytes == 0 || from % kPageBytes != 0) return kNoRule;
  if (to <= __atomic_load_n(&noted_from, __ATOMIC_RELAXED) || from >= __atomic_load_n(&noted_to, __ATOMIC_RELAXED))
    return kNoRule;
  int rule = kNoRule;
  struct mlrun_place_mapping *mapping;
  for (uint64_t i = 0; (mapping = take_overlapping(from, to, &i, &number)); i++) {
    uint64_t start = mapping->at, end = start + mapping->bytes;
    rule = (int)mapping->rule;
    mapping->bytes = from > start ? from - start : 0;
    if (end > to && mapping->bytes == 0) {
      mapping->at = to;
      mapping->bytes = end - to;
    } else if (end > to) {
      note_mapping((uint32_t)rule, (void *)to, end - to);
    }
    give_back(mapping, number);
  }
  return rule;
}

void move_mapping(const void *from, size_t bytes_before, const void *at, size_t bytes) {
  uint64_t start = (uint64_t)from, end = start + whole_pages(bytes_before), number, i = 0;
  if (own_slot == UINT32_MAX) return;
  struct mlrun_place_mapping *mapping = take_overlapping(start, end, &i, &number);
  if (!mapping) return;
  bool is_whole = mapping->at == start && mapping->at + mapping->bytes == end;
  if (is_whole) {
    mapping->at = (uint64_t)at;
    mapping->bytes = whole_pages(bytes);
    widen_noted((uint64_t)at, (uint64_t)at + mapping->bytes);
  }
  give_back(mapping, number);
  if (is_whole) return;
  int rule = forget_mapping(from, bytes_before);
  if (rule != kNoRule) note_mapping((uint32_t)rule, at, bytes);
}

// The mappings that were recorded for the parent at the moment of the fork.
static struct mlrun_place_mapping inherited[MLRUN_PLACE_MAPPINGS];
static uint32_t inherited_count;
static uint64_t inherited_left_out;  // mappings_left_out of the parent's slot

// A signal handler may fork amid this: it counts by itself.
static void copy_own_entries(void) {
  uint32_t copied = 0;
  inherited_count = 0;
  inherited_left_out = 0;
  if (own_slot == UINT32_MAX || noted_from >= noted_to) return;
  inherited_left_out = __atomic_load_n(&slot_at(own_slot)->mappings_left_out, __ATOMIC_RELAXED);
  for (uint32_t i = 0; i < MLRUN_PLACE_MAPPINGS; i++) {
    const struct mlrun_place_mapping *mapping = &noted_mappings()->entry[i];
    uint64_t number = __atomic_load_n(&mapping->number, __ATOMIC_ACQUIRE);
    if (number == 0 || number >= MLRUN_PLACE_BUSY || mapping->slot != own_slot) continue;
    inherited[copied] = *mapping;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (__atomic_load_n(&mapping->number, __ATOMIC_RELAXED) == number) copied++;
  }
  inherited_count = copied;
}

// Records them for the child too, in unused entries of the first half alone: mappings that a rule places keep the rest. Those without an entry are not
// sampled in the child; its parent's samples are whole nevertheless, so nothing is noted as left out.
static void note_inherited(void) {
  uint32_t next = 0;
  slot_at(own_slot)->mappings_left_out = inherited_left_out;
  for (uint32_t i = 0; i < inherited_count; i++) {
    struct mlrun_place_mapping *mapping = NULL;
    for (; next < MLRUN_PLACE_MAPPINGS / 2 && !mapping; next++)
      if (take_entry(&noted_mappings()->entry[next], 0)) mapping = &noted_mappings()->entry[next];
    if (!mapping) return;
    uint64_t before = __atomic_fetch_add(&noted_mappings()->made, 1, __ATOMIC_RELAXED);
    fill_entry(mapping, inherited[i].rule, inherited[i].at, inherited[i].bytes, before + 1);
  }
}

// A child that writes inherited memory gets pages of its own, which mlrun samples by slots. So it has one before its first block, but of the last
// fourth alone: many short children leave the rest to processes that place blocks. None where mlrun could not find out that it has ended.
static void show_inherited(void) {
  if (!own_pid || !own_namespace || !(inherited_count || heaps_have_blocks())) return;
  counts_are_shown = use_slot(shared->slots_count - shared->slots_count / MLRUN_PLACE_INHERITED_PART);
  if (counts_are_shown) note_inherited();
}

static void before_fork(void) {
  heaps_lock();
  copy_own_entries();
  files_before_fork();
}

static void in_parent(void) {
  files_in_parent();
  heaps_unlock();
}

static void in_child(void) {
  files_in_child();
  find_own_pid();
  heaps_hide_counts();
  counts_are_shown = false;
  own_slot = UINT32_MAX;
  show_inherited();
  heaps_unlock();
  sites_after_fork();
  choose_rules();
}

// Registers fork handlers that take all locks: else another thread could hold one at the moment of the fork, and the child could never take it.
// (_Fork and clone call no handlers; the locks of libc's allocator have the same problem there.)
static __attribute__((constructor)) void load(void) {
  typedef void handler(void);
  int (*at_fork)(handler *, handler *, handler *, void *) =
      (int (*)(handler *, handler *, handler *, void *))libc_symbol("__register_atfork");
  start_placement();
  if (placement) memkind_begin();
  if (placement && at_fork) at_fork(before_fork, in_parent, in_child, NULL);
}

static __attribute__((destructor)) void unload(void) {
  if (placement) memkind_end();
}

static bool is_before_glibc(void) {
  if (!__atomic_load_n(&real_allocator.malloc, __ATOMIC_ACQUIRE)) real_allocator_resolve();
  return real_allocator.is_glibc;
}

static const char *allocator_object(void) {
  const char *object = "";
  next_symbol_in("malloc", &object);
  return object;
}

EXPORT const struct mlrun_placement_view mlrun_placement_view = {
    &window.base, &window.bytes, malloc, size_if_known, is_before_glibc, allocator_object, follow_mlockall};
