// SPDX-License-Identifier: Apache-2.0
// Calls that move bytes from one descriptor to another: sendfile, copy_file_range, splice, tee.
#pragma once

#include <sys/types.h>

#include "preload/calls/traced_call.h"

#pragma GCC visibility push(hidden)

struct copy_call {
  struct pending_call call;  // fd: the descriptor that is read from
  int second_fd;             // the descriptor that is written to
  uint32_t second_open_file;
  uint64_t watch;  // memory_watch() at the start
};

INLINE void leave_copy_call(struct copy_call *copy) { leave_call(&copy->call); }
#define COPY_CALL_CLEANUP __attribute__((cleanup(leave_copy_call)))

void begin_copy_call(struct copy_call *copy);

// at, second_at: the program's offsets, null: the file position is used. They are read after the call, as
// program_memory.h allows.
void end_copy_call(struct copy_call *copy, const off_t *at, const off_t *second_at, int64_t result);

#pragma GCC visibility pop
