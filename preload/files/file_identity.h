// SPDX-License-Identifier: Apache-2.0
// Open files: their numbers, and the records that map a number to a file (MLRUN_FILE).
#pragma once

#include <stdint.h>
#include <sys/stat.h>

#include "preload/base/raw_syscall.h"
#include "preload/core/recorder.h"
#include "preload/record/text.h"
#include "runner/events/record.h"

#pragma GCC visibility push(hidden)

// Takes more numbers from the session's counter for this thread, and returns the first of them.
uint32_t take_open_file_numbers(void);

// A number that no other open file of the session has. Must be called after a reservation, which detects a forked
// child. A thread takes several at a time: one locked instruction on a line that all processes share costs an open as
// much as both its time stamps.
INLINE uint32_t new_open_file_number(void) {
  uint64_t numbers = fetch_add_local(&this_thread.open_file_numbers, 1);
  return likely((uint32_t)numbers < numbers >> 32) ? (uint32_t)numbers : take_open_file_numbers();
}

// fstat by a raw system call, past all hooks. False: it failed, or system calls are not allowed any more; *status is
// zero. Inlined, like everything an open does after it: a return to a caller that called before a system call is
// mispredicted.
INLINE bool stat_descriptor(int fd, struct stat *status) {
  if (likely(recording_system_calls_allowed()) && likely(raw_syscall2(SYS_fstat, fd, (long)status) == 0)) return true;
  *status = (struct stat){0};
  return false;
}

struct file_record {
  uint64_t clock;
  uint32_t open_file;
  enum mlrun_file_origin origin;
  uint32_t flags;  // O_ flags, if origin is FOUND
  const struct stat *status;
  uint64_t path, directory;      // string ids; the directory's only for a path relative to it
  uint32_t directory_open_file;  // of the dirfd that the path is relative to, or 0
};
enum { kFileRecordBytes = 64 };

// Writes and publishes the record at `w`. The kernel's st_dev is the 32-bit device number that the trace uses:
// minor & 0xff | major << 8 | the rest of minor << 12.
INLINE void write_file_record(uint64_t *w, uint8_t lap, const struct file_record *file) {
  w[1] = file->clock;
  w[2] = (uint64_t)(uint32_t)file->status->st_dev << 8 | (uint64_t)file->origin << 40;
  w[3] = file->status->st_ino;
  w[4] = (uint64_t)file->status->st_mode << 8 | (uint64_t)file->flags << 40;
  w[5] = file->path;
  w[6] = (uint64_t)file->directory_open_file << 8;
  w[7] = file->directory;
  publish(w, lap, kFileRecordBytes / MLRUN_UNIT_BYTES, MLRUN_FILE, file->open_file);
}

#pragma GCC visibility pop
