// SPDX-License-Identifier: Apache-2.0
// Calls that name a file: one reservation holds the definitions of new strings, the definition of the open file that
// was made, and the call. The path is read after the real call, where program_memory.h allows it; before the call if
// the result may be written over it.
#pragma once

#include <fcntl.h>

#include "preload/calls/traced_call.h"
#include "preload/core/program_memory.h"
#include "preload/record/text.h"

#pragma GCC visibility push(hidden)

struct path_call {
  struct pending_call call;   // fd: the dirfd until a descriptor has been made; form kCallOnPath
  const char *path, *second;  // second: null unless the call has two
  int second_dirfd;
  bool opens;       // the result is a descriptor with a new open file
  bool looks_up;    // the kernel reads the path first of all, so ENOENT proves that it has read it
  char *copy;       // our scratch page with the path; null: `path` is the program's
  const void *out;  // the buffer that the call fills, or null
  size_t out_bytes;
  uint64_t watch;                // memory_watch() at the start
  const struct text *directory;  // the working directory before the call, if the call changes it
};

INLINE void leave_path_call(struct path_call *path) { leave_call(&path->call); }
#define PATH_CALL_CLEANUP __attribute__((cleanup(leave_path_call)))

// For a call that may write over its path: copies the path to `copy`; if it cannot be read, the call has no path. No
// effect if the path surely ends before the output begins.
void copy_path_before(struct path_call *path);

// Whether the bytes that the call writes may overlap those of the path.
INLINE bool may_write_over_path(const struct path_call *path) {
  enum { kPathBytes = 4096, kMostWritten = 1 << 16 };  // xattrs are the longest
  size_t bytes = path->out_bytes < kMostWritten ? path->out_bytes : kMostWritten;
  // Compares the last byte that is written: a buffer that ends right before the path does not overlap it.
  return path->out && (uintptr_t)path->out + bytes - 1 - (uintptr_t)path->path < bytes + kPathBytes - 1;
}

INLINE void begin_path_call(struct path_call *path) {
  path->call.form = kCallOnPath;
  path->call.outer = this_thread.pending;
  path->call.start = file_stamp();
  if (unlikely(!path->call.start)) return;
  if (unlikely(may_write_over_path(path))) copy_path_before(path);
  path->watch = memory_watch();
  link_call(&path->call);
}

// result: what the real call returned (its descriptor if it opens one), -1 on failure. Also updates the descriptor
// table, and gives `copy` back.
void end_path_call(struct path_call *path, int64_t result);

// The same for a call that made a descriptor (-1: failed) without naming a file: the kernel is asked for a name.
void end_unnamed_open(struct path_call *path, int result);

// The bodies of the hooks of open and openat. The hooks jump here, and these functions return to the program.
typedef int (*open_function)(const char *, int, ...);
typedef int (*openat_function)(int, const char *, int, ...);
int traced_open(const char *path, int flags, mode_t mode, open_function real);
int traced_openat(int dirfd, const char *path, int flags, mode_t mode, openat_function real);

// Writes the record, without giving `copy` back. result: as recorded, -errno on failure; error: 0 or errno.
void put_path_call(struct path_call *path, uint64_t end, int64_t result, int error, uint64_t flags);

#pragma GCC visibility pop
