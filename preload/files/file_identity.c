// SPDX-License-Identifier: Apache-2.0
#include "preload/files/file_identity.h"

#include <fcntl.h>

#include "preload/core/recorder.h"
#include "preload/files/fd_table.h"
#include "preload/files/path_rules.h"

enum { kNumbersTaken = 16, kFlagBits = 0xffffff };

// If a signal handler takes numbers in the middle of this function, or forks, its numbers stay in use, and of the numbers
// taken here only the first is used.
COLD uint32_t take_open_file_numbers(void) {
  uint64_t seen = this_thread.open_file_numbers;
  uint32_t last = __atomic_add_fetch(&control->next_open_file, kNumbersTaken, __ATOMIC_RELAXED);
  uint32_t first = last - kNumbersTaken + 1;
  test_point(14);
  replace_local(&this_thread.open_file_numbers, seen, ((uint64_t)last + 1) << 32 | (first + 1));
  return first;
}

COLD uint32_t identify_open_file(int fd) {
  if (fd < 0 || in_vfork_child()) return 0;
  if (!fd_limit && recording_system_calls_allowed()) fd_table_create();
  struct stat status;
  bool is_open = stat_descriptor(fd, &status);
  if (!fd_entry_of(fd)) {
    if (is_open || !recording_system_calls_allowed()) count_failure(MLRUN_FAIL_FD_RANGE);
    return 0;
  }
  if (!is_open) return 0;
  struct text name = text_of_descriptor(fd);
  if (unlikely(path_rules_on) && !name_is_wanted(&name)) {
    text_release(&name);
    return fd_adopt_open_file(fd, OPEN_FILE_LEFT_OUT);
  }
  long flags = raw_syscall2(SYS_fcntl, fd, F_GETFL);
  uint64_t clock = now_ticks();
  uint8_t lap;
  uint64_t *w = reserve_with_texts((struct text *const[]){&name}, 1, kFileRecordBytes, MLRUN_FILE, &lap);
  text_release(&name);
  if (!w) return 0;
  struct file_record file = {.clock = clock,
                             .open_file = new_open_file_number(),
                             .status = &status,
                             .origin = MLRUN_ORIGIN_FOUND,
                             .flags = flags < 0 ? 0 : (uint32_t)flags & kFlagBits,
                             .path = name.id};
  write_file_record(w, lap, &file);
  return fd_adopt_open_file(fd, file.open_file);
}
