// SPDX-License-Identifier: Apache-2.0
// What is behind each descriptor of this process: the number of its open file (what the kernel calls an open file
// description), and what the buffered calls on it have done since their last record.
//
// One entry per descriptor in private memory that is touched lazily and inherited by fork, as the descriptors are.
// Entries are set by calls that make descriptors, cleared by calls that close them, and filled at first use otherwise.
// A vfork child has descriptors of its own but our memory: it never writes here. No locks: an entry is as ordered
// between threads as the calls that change its descriptor.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "preload/base/compiler.h"
#include "preload/core/recorder.h"
#include "preload/core/thread_state.h"

#pragma GCC visibility push(hidden)

// Stands for every open file that the path rules leave out (path_rules.h).
#define OPEN_FILE_LEFT_OUT UINT32_MAX

struct fd_entry {
  uint32_t open_file;       // 0: not known
  uint32_t buffered_calls;  // stdio or readdir calls since the last record
  uint32_t last_place;      // low half of an address, 0: none. Folders: what readdir returned last. Streams: where the
                            // last recorded or counted call left its pointer (stream_call.h)
  uint32_t renames;         // of the session, when the open file was met: a folder may have another name since
};

extern struct fd_entry *fd_entries;
extern uint32_t fd_limit;      // entries there are; 0: no table yet, or no longer
extern size_t fd_table_bytes;  // mapped for it
extern uint32_t fd_high;       // entries that were ever set lie below

// Makes the table, unless there is one. Needs system calls; to be called before the program can have given them up.
void fd_table_create(void);

// The program has limited its data (RLIMIT_DATA): the table's unused part shall not count.
void fd_table_fit_data_limit(void);

// Null: beyond the table.
INLINE struct fd_entry *fd_entry_of(int fd) { return likely((uint32_t)fd < fd_limit) ? &fd_entries[fd] : 0; }
INLINE uint32_t known_open_file(int fd) { return likely((uint32_t)fd < fd_limit) ? fd_entries[fd].open_file : 0; }

// The calling thread has descriptors of its own from now on. Unless it is the only one there is no table any more: one number may
// mean two files. Calls then tell no file, and are counted as those beyond the table are.
void fd_table_divides(void);

void fd_raise_high(uint32_t high);

// A descriptor now means `open_file`; 0: something else than before, to be identified at its first use.
INLINE void fd_set_open_file(int fd, uint32_t open_file) {
  struct fd_entry *entry = fd_entry_of(fd);
  if (unlikely(!entry) || in_vfork_child()) return;
  if (!open_file && !entry->open_file && !entry->buffered_calls && !entry->last_place)
    return;  // the page stays untouched
  if (unlikely((uint32_t)fd >= __atomic_load_n(&fd_high, __ATOMIC_RELAXED))) fd_raise_high((uint32_t)fd + 1);
  *entry = (struct fd_entry){.open_file = open_file, .renames = control->renames};
}

// The number of a folder that paths are relative to. One that may have been renamed since it was met is met again, under
// the name that it has now. Only while recording.
uint32_t fd_open_folder(int fd);

void fd_forget_range(uint32_t first, uint32_t last);

// Enters `open_file` unless another thread has identified the descriptor meanwhile; returns what stands there then.
uint32_t fd_adopt_open_file(int fd, uint32_t open_file);

// First use of a descriptor (file_identity.c): asks the kernel, defines the open file (origin FOUND) and remembers it.
// 0: it cannot be told (no such descriptor, no room for the definition, no system calls any more). Only while
// recording.
uint32_t identify_open_file(int fd);

// The same, but only for descriptors that are not known already.
INLINE uint32_t open_file_of(int fd) {
  uint32_t known = known_open_file(fd);
  return likely(known || fd < 0) ? known : identify_open_file(fd);
}

#pragma GCC visibility pop
