// SPDX-License-Identifier: Apache-2.0
// A defined library is recognised by list entry, address and tables: the dynamic linker reuses the memory of a freed
// entry. With other threads alive, an entry may be freed at any time.
#include "preload/record/library_record.h"

#include <link.h>
#include <string.h>

#include "preload/base/raw_syscall.h"
#include "preload/base/readable.h"
#include "preload/base/scratch.h"
#include "preload/core/alloc_state.h"
#include "preload/core/program_memory.h"
#include "preload/core/recorder.h"
#include "preload/record/module_record.h"
#include "preload/record/process_record.h"
#include "preload/unwind/code_modules.h"
#include "preload/unwind/elf_module.h"

enum { kListMax = 8192, kDefinedMax = 2048, kFirstPlaces = kReadablePageBytes / sizeof(uint64_t) };

uint32_t closed_libraries;

extern struct r_debug _r_debug __attribute__((weak));
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

// Hash set of libraries with linear probing; 0: free. Probing begins in the first page: a forked child, which enters all
// inherited libraries, touches only one page if they are few.
static uint64_t defined[kDefinedMax] __attribute__((aligned(kReadablePageBytes)));
static uint32_t count;

static uint64_t hash_of(uint64_t at, const struct link_map *object) {
  enum { kPrimeBits = 29 };
  const uint64_t prime = 0x9e3779b97f4a7c15ull;
  uint64_t hash = ((at * prime ^ object->l_addr) * prime ^ (uint64_t)object->l_ld) * prime;
  return (hash ^ hash >> kPrimeBits) | 1;
}

// False: it was in the set before. If the set is full, each library counts as new, and is defined once more.
static bool add_defined(uint64_t hash) {
  for (uint32_t i = 0; i < kDefinedMax; i++) {
    uint64_t *place = &defined[(hash / 2 % kFirstPlaces + i) % kDefinedMax], there = 0;
    bool added = __atomic_compare_exchange_n(place, &there, hash, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    if (added || there == hash) return added;
  }
  return true;
}

// The absolute path for a library's name: a relative one (as the program may pass to dlopen) starts at the working
// directory. Null: the name cannot be a file's, or its path is unknown or too long.
static const char *whole_name(const char *name, size_t *bytes, char *room) {
  if (!memchr(name, '/', *bytes)) return NULL;  // the kernel's own (vDSO)
  if (name[0] == '/') return name;
  long folder = raw_syscall2(SYS_getcwd, (long)room, kScratchBytes);
  if (folder <= 1 || room[0] != '/' || (size_t)folder + *bytes >= kScratchBytes) return NULL;
  while (*bytes > 2 && name[0] == '.' && name[1] == '/') {
    name += 2;
    *bytes -= 2;
  }
  room[folder - 1] = '/';
  memcpy(room + folder, name, *bytes);
  *bytes += (size_t)folder;
  return room;
}

// The dynamic linker's name for the library, copied to `page`; for the program itself, which has none there, the name of
// its file. Null: the entry is gone.
static const char *copied_name(const struct link_map *object, size_t *bytes, char *page) {
  bool readable = copy_string_from_program(page, object->l_name, kScratchBytes, bytes);
  if (!readable || *bytes == kScratchBytes) return NULL;
  return *bytes ? page : process_exe(bytes);
}

static void define(uint64_t at, const struct link_map *object, char *page, char *room) {
  struct code_module module;
  size_t bytes;
  if (object->l_ld == _DYNAMIC || !read_elf_module(at, object, &module)) return;
  const char *name = copied_name(object, &bytes, page);
  if (name && bytes) name = whole_name(name, &bytes, room);
  module.number = MLRUN_FRAME_MODULE_MAX + ++count;  // frames use the numbers below
  if (name && bytes) write_module(&module, name, bytes);
}

static void define_new(char *page, char *room) {
  uint64_t at = (uint64_t)_r_debug.r_map;
  struct link_map object;
  for (int i = 0; at && i < kListMax; i++, at = (uint64_t)object.l_next) {
    if (_r_debug.r_state != RT_CONSISTENT) return;
    if (!read_from_program(&object, (const void *)at, sizeof object, false)) return;
    if (add_defined(hash_of(at, &object))) define(at, &object, page, room);
  }
}

void libraries_write(void) {
  if (!&_r_debug || in_vfork_child() || !allocs_listed || !stamp()) return;
  char *page = scratch_take(), *room = scratch_take();
  if (page && room) define_new(page, room);
  scratch_give(room);
  scratch_give(page);
}

// Reads the list without copies, because the child has no other thread yet that could free an entry.
void libraries_after_fork(void) {
  if (!&_r_debug || !(control->streams & MLRUN_STREAM_ALLOCS)) return;
  const struct link_map *object = _r_debug.r_map;
  uint64_t readable_page = UINT64_MAX;
  for (int i = 0; object && i < kListMax; i++, object = object->l_next) {
    uint64_t first = (uint64_t)object / kReadablePageBytes, last = (uint64_t)(object + 1) / kReadablePageBytes;
    bool proven = first == readable_page && last == readable_page;
    if (!proven && !is_readable_range((uint64_t)object, sizeof *object)) return;
    readable_page = last;
    add_defined(hash_of((uint64_t)object, object));
  }
}
