// SPDX-License-Identifier: Apache-2.0
#include "preload/exec/vfork_exec.h"

#include <string.h>

#include "preload/base/raw_syscall.h"
#include "preload/base/scratch.h"
#include "preload/calls/path_call.h"

// Writes the directory that `path` is relative to in the child, which may have changed it, without a terminating 0.
// Returns the bytes; 0: unknown, as in a confined child.
static size_t base_of_program(int dirfd, char *page) {
  if (!recording_system_calls_allowed()) return 0;
  if (dirfd == AT_FDCWD) {
    long bytes = raw_syscall2(SYS_getcwd, (long)page, kScratchBytes);  // with the 0
    return bytes > 1 && page[0] == '/' ? (size_t)bytes - 1 : 0;
  }
  struct text folder = text_of_descriptor(dirfd);
  size_t bytes = folder.id && folder.bytes < kScratchBytes ? folder.bytes : 0;
  if (bytes) memcpy(page, folder.at, bytes);
  text_release(&folder);
  return bytes;
}

static bool write_program(int dirfd, const char *path, char *page) {
  size_t bytes = strnlen(path, kScratchBytes), base = path[0] == '/' ? 0 : base_of_program(dirfd, page);
  if (path[0] != '/' && !base) return false;
  if (base && bytes) page[base++] = '/';
  if (base + bytes >= kScratchBytes) return false;
  memcpy(page + base, path, bytes + 1);
  return true;
}

void note_vfork_execution(int dirfd, const char *path, enum mlrun_exec_target verdict) {
  if (this_thread.vfork_depth > 1) return;  // the parent is a vfork child itself, and records nothing
  if (!this_thread.vfork_program) this_thread.vfork_program = scratch_take();
  if (!this_thread.vfork_program) return;
  this_thread.vfork_verdict = verdict;
  if (!write_program(dirfd, path, this_thread.vfork_program)) forget_vfork_execution();
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
