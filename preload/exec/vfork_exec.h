// SPDX-License-Identifier: Apache-2.0
// What a vfork child executes. The child may not record; it leaves a note in the memory that it shares with its parent,
// and the parent writes the record when it resumes.
#pragma once

#include <stdint.h>

#include "runner/events/record.h"

#pragma GCC visibility push(hidden)

// In the vfork child, before exec. path: readable, relative to `dirfd` or AT_FDCWD of the child; an empty path: dirfd
// itself.
void note_vfork_execution(int dirfd, const char *path, enum mlrun_exec_target verdict);

// In the vfork child: exec has failed.
void forget_vfork_execution(void);

// In the parent, after the vfork. child: its pid. start: of the vfork, 0: nothing is recorded.
void put_vfork_execution(int64_t child, uint64_t start);

#pragma GCC visibility pop
