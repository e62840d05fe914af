// SPDX-License-Identifier: Apache-2.0
// Calls that name a file: one reservation holds the definitions of strings that are new, the definition of the open
// file that was made, and the call. The path is looked at after the real call, when the kernel has vouched for it.
#pragma once

#include <fcntl.h>

#include "preload/text.h"
#include "preload/traced_call.h"

#pragma GCC visibility push(hidden)

struct path_call {
  struct pending_call call;   // fd: the dirfd until a descriptor has been made; form kCallOnPath
  const char *path, *second;  // second: null unless the call has two
  int second_dirfd;
  bool opens;                    // the result is a descriptor with a new open file
  const struct text *directory;  // the working directory when the call began, if the call changes what it is called
};

INLINE void leave_path_call(struct path_call *path) { leave_call(&path->call); }
#define PATH_CALL_CLEANUP __attribute__((cleanup(leave_path_call)))

INLINE void begin_path_call(struct path_call *path) {
  path->call.form = kCallOnPath;
  path->call.outer = this_thread.pending;
  path->call.start = file_stamp();
  if (likely(path->call.start)) link_call(&path->call);
}

// result: what the real call returned (its descriptor if it opens one), -1 on failure. Also enters the descriptor's
// table.
void end_path_call(struct path_call *path, int64_t result);

// The same for a call that made a descriptor (-1: failed) without naming a file: the kernel is asked for a name.
void end_unnamed_open(struct path_call *path, int result);

// open and openat as they are recorded, from their hooks' jump to their caller's next instruction.
typedef int (*open_function)(const char *, int, ...);
typedef int (*openat_function)(int, const char *, int, ...);
int traced_open(const char *path, int flags, mode_t mode, open_function real);
int traced_openat(int dirfd, const char *path, int flags, mode_t mode, openat_function real);

// The record alone. result: as recorded, -errno on failure; error: 0 or errno.
void put_path_call(struct path_call *path, uint64_t end, int64_t result, int error, uint64_t flags);

#pragma GCC visibility pop
