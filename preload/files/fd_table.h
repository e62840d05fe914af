// SPDX-License-Identifier: Apache-2.0
// The meaning of each descriptor of this process: the number of its open file (the kernel's open file description), and
// the buffered calls on it since their last record.
//
// One entry per descriptor in private memory that is touched lazily and inherited by fork, as the descriptors are.
// Entries are set by calls that make descriptors, cleared by calls that close them, and otherwise filled at first use.
// A vfork child has descriptors of its own but our memory: it never writes here. No locks: entries are as ordered
// between threads as the calls that change the descriptor.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "preload/base/compiler.h"
#include "preload/core/recorder.h"
#include "preload/core/thread_state.h"

#pragma GCC visibility push(hidden)

// The number of every open file that the path rules leave out (path_rules.h).
#define OPEN_FILE_LEFT_OUT UINT32_MAX

struct fd_entry {
  uint32_t open_file;       // 0: unknown
  uint32_t buffered_calls;  // stdio or readdir calls since the last record
  uint32_t last_place;      // low half of an address, 0: none. Folders: what readdir returned last. Streams: the
                            // stream's pointer after the last recorded or counted call (stream_call.h)
  uint32_t renames;  // the session's count when the open file was identified: a folder may have another name since
};

extern struct fd_entry *fd_entries;
extern uint32_t fd_limit;      // number of entries; 0: no table yet, or no longer
extern size_t fd_table_bytes;  // mapped for it
extern uint32_t fd_high;       // all entries ever set are below

// Makes the table, unless there is one. Makes system calls; must be called while the program cannot have given them up.
void fd_table_create(void);

// Called when the program has limited its data (RLIMIT_DATA): makes the unused part of the table not count as data.
void fd_table_fit_data_limit(void);

// Null: beyond the table.
INLINE struct fd_entry *fd_entry_of(int fd) { return likely((uint32_t)fd < fd_limit) ? &fd_entries[fd] : 0; }
INLINE uint32_t known_open_file(int fd) { return likely((uint32_t)fd < fd_limit) ? fd_entries[fd].open_file : 0; }

// The calling thread has descriptors of its own from now on. Unless it is the only thread the table is dropped, because
// one descriptor may mean different files in two threads. Calls then name no file, and are counted like calls on
// descriptors beyond the table.
void fd_table_divides(void);

void fd_raise_high(uint32_t high);

// A descriptor now means `open_file`; 0: another file than before, to be identified at its first use.
INLINE void fd_set_open_file(int fd, uint32_t open_file) {
  struct fd_entry *entry = fd_entry_of(fd);
  if (unlikely(!entry) || in_vfork_child()) return;
  if (!open_file && !entry->open_file && !entry->buffered_calls && !entry->last_place)
    return;  // the page stays untouched
  if (unlikely((uint32_t)fd >= __atomic_load_n(&fd_high, __ATOMIC_RELAXED))) fd_raise_high((uint32_t)fd + 1);
  *entry = (struct fd_entry){.open_file = open_file, .renames = control->renames};
}

// The number of a folder that paths are relative to. A folder that may have been renamed since it was identified is
// identified again, under its present name. Only while recording.
uint32_t fd_open_folder(int fd);

void fd_forget_range(uint32_t first, uint32_t last);

// Enters `open_file` unless another thread has identified the descriptor meanwhile; returns the entry's number.
uint32_t fd_adopt_open_file(int fd, uint32_t open_file);

// First use of a descriptor (file_identity.c): asks the kernel, defines the open file (origin FOUND) and remembers it.
// 0: it cannot be identified (no such descriptor, the definition was dropped, no system calls any more). Only while
// recording.
uint32_t identify_open_file(int fd);

// The open file of a descriptor. The kernel is asked only if it is not in the table.
INLINE uint32_t open_file_of(int fd) {
  uint32_t known = known_open_file(fd);
  return likely(known || fd < 0) ? known : identify_open_file(fd);
}

#pragma GCC visibility pop
