// SPDX-License-Identifier: Apache-2.0
// The dynamic linker's list grows at its end, so what has been defined is known by its last entry. It is read as
// code_modules.c reads it: an entry may go at any time, if other threads are about.
#include "preload/library_record.h"

#include <link.h>
#include <string.h>

#include "preload/alloc_hooks.h"
#include "preload/code_modules.h"
#include "preload/elf_module.h"
#include "preload/module_record.h"
#include "preload/raw_syscall.h"
#include "preload/readable.h"
#include "preload/recorder.h"
#include "preload/scratch.h"

enum { kListMax = 8192 };

extern struct r_debug _r_debug __attribute__((weak));
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

static uint64_t last_defined;  // the linker's entry
static uint32_t count;

// The entry at *at, and the next one's place. False: it cannot be read.
static bool take_entry(uint64_t *at, struct link_map *object) {
  if (!is_readable_range(*at, sizeof *object)) return false;
  memcpy(object, (const void *)*at, sizeof *object);
  *at = (uint64_t)object->l_next;
  return true;
}

static uint64_t last_entry(void) {
  uint64_t at = &_r_debug ? (uint64_t)_r_debug.r_map : 0, last = 0;
  struct link_map object;
  for (int i = 0; at && i < kListMax; i++) {
    uint64_t here = at;
    if (!take_entry(&at, &object)) return 0;
    last = here;
  }
  return last;
}

// A path that the program gave is relative to its working directory. Null: it has none that could be a file's.
static const char *whole_name(const char *name, size_t *bytes, char *room) {
  if (!memchr(name, '/', *bytes)) return NULL;  // the kernel's own
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

static void define(uint64_t at, const struct link_map *object, char *room) {
  struct code_module module;
  size_t bytes;
  if (object->l_ld == _DYNAMIC || !read_elf_module(at, object, &module)) return;
  const char *name = name_of_module(&module, &bytes);
  if (bytes) name = whole_name(name, &bytes, room);
  module.number = MLRUN_FRAME_MODULE_MAX + ++count;  // frames name others
  if (bytes && name) write_module(&module, name, bytes);
}

static bool is_in_list(uint64_t entry) {
  uint64_t at = (uint64_t)_r_debug.r_map;
  struct link_map object;
  for (int i = 0; at && i < kListMax; i++) {
    if (at == entry) return true;
    if (!take_entry(&at, &object)) return false;
  }
  return false;
}

static void define_from(uint64_t at, char *room) {
  struct link_map object;
  for (int i = 0; at && i < kListMax; i++) {
    uint64_t here = at;
    if (_r_debug.r_state != RT_CONSISTENT || !take_entry(&at, &object)) return;
    define(here, &object, room);
    last_defined = here;
  }
}

void libraries_write(void) {
  if (!&_r_debug || in_vfork_child() || !alloc_hooks_listed_any() || !stamp()) return;
  uint64_t from = (uint64_t)_r_debug.r_map;
  struct link_map last;
  if (last_defined && is_in_list(last_defined)) {
    from = last_defined;
    if (!take_entry(&from, &last)) return;
  }
  char *room = from ? scratch_take() : NULL;
  if (!room) return;
  define_from(from, room);
  scratch_give(room);
}

void libraries_after_fork(void) { last_defined = last_entry(); }
