// SPDX-License-Identifier: Apache-2.0
#include "preload/vfork_exec.h"

#include <string.h>

#include "preload/path_call.h"
#include "preload/scratch.h"

void note_vfork_execution(const char *path, enum mlrun_exec_target verdict) {
  size_t bytes = strnlen(path, kScratchBytes);
  bool nested = this_thread.vfork_depth > 1;  // the child of a child: its parent will not come back here
  if (nested || path[0] != '/' || bytes == kScratchBytes) return;
  if (!this_thread.vfork_program) this_thread.vfork_program = scratch_take();
  if (!this_thread.vfork_program) return;
  memcpy(this_thread.vfork_program, path, bytes + 1);
  this_thread.vfork_verdict = verdict;
}

void forget_vfork_execution(void) {
  scratch_give(this_thread.vfork_program);
  this_thread.vfork_program = NULL;
}

void put_vfork_execution(int64_t child, uint64_t start) {
  if (!this_thread.vfork_program) return;
  if (start && child > 0) {
    uint64_t now = now_ticks();
    struct path_call path = {
        .call = {.start = now,
                 .requested = this_thread.vfork_verdict,
                 .kind = KIND_execve,
                 .fd = AT_FDCWD,
                 .form = kCallOnPath},
        .path = this_thread.vfork_program,
        .copy = this_thread.vfork_program,
    };
    put_path_call(&path, now, child, 0, MLRUN_CALL_PASSED_FD);
  }
  forget_vfork_execution();
}
