// SPDX-License-Identifier: Apache-2.0
// The process's working directory, by the id of its name. The kernel is asked when a record needs it and it is unknown.
// Calls that change it or the root directory, also through syscall(), make it unknown again, and so does each rename.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "preload/calls/path_call.h"
#include "preload/core/recorder.h"
#include "preload/record/text.h"

#pragma GCC visibility push(hidden)

void forget_working_directory(void);

// Counts a rename: the working directory, or the folder of a descriptor, may have another name now, in all processes of
// the session. Renames by processes outside the session are not seen.
INLINE void folders_may_have_moved(void) { __atomic_add_fetch(&control->renames, 1, __ATOMIC_RELAXED); }

// The string id of the working directory, if it is known and the process has written the definition; else 0.
uint64_t known_working_directory(void);

// Before and after a call that changes the working directory several times inside libc (nftw): in between, every record
// that needs it asks the kernel. really: the call does so with its flags. After an unshare, which gives threads different
// working directories, working_directory_settles() is never called.
void working_directory_changes(bool really);
void working_directory_settles(bool really);

// A call that names a folder and changes what relative paths mean.
struct move_call {
  struct path_call path;
  struct text before;  // the working directory before the call, which its path may be relative to
};

INLINE void leave_move_call(struct move_call *move) { leave_path_call(&move->path); }
#define MOVE_CALL_CLEANUP __attribute__((cleanup(leave_move_call)))

void begin_move_call(struct move_call *move);
// result: 0, -1 on failure.
void end_move_call(struct move_call *move, int result);

#pragma GCC visibility pop
