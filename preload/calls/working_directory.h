// SPDX-License-Identifier: Apache-2.0
// The process's working directory, by the id of its name. Asked from the kernel when a record needs it and it is not
// known; the calls that change it or the root that its name begins at, by name or by number, make it unknown again, as does
// each rename.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "preload/calls/path_call.h"
#include "preload/core/recorder.h"
#include "preload/record/text.h"

#pragma GCC visibility push(hidden)

void forget_working_directory(void);

// Something was renamed, which may be a folder above it or above that of a descriptor. All processes of the session see it;
// what processes outside of it rename is not known.
INLINE void folders_may_have_moved(void) { __atomic_add_fetch(&control->renames, 1, __ATOMIC_RELAXED); }

// Its string id, if that is known and the process has written the definition; else 0.
uint64_t known_working_directory(void);

// Around a call that changes it at any time, unseen: meanwhile every record asks anew. Nothing unless `really`. Where threads come
// to have one each it is never settled.
void working_directory_changes(bool really);
void working_directory_settles(bool really);

// A call that names a folder and changes what relative paths mean.
struct move_call {
  struct path_call path;
  struct text before;  // what its own path was relative to, where it is recorded
};

INLINE void leave_move_call(struct move_call *move) { leave_path_call(&move->path); }
#define MOVE_CALL_CLEANUP __attribute__((cleanup(leave_move_call)))

void begin_move_call(struct move_call *move);
// result: 0, -1 on failure.
void end_move_call(struct move_call *move, int result);

#pragma GCC visibility pop
