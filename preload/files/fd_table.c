// SPDX-License-Identifier: Apache-2.0
#include "preload/files/fd_table.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "preload/base/raw_syscall.h"
#include "preload/core/recorder.h"
#include "preload/core/thread_state.h"
#include "preload/record/process_record.h"

enum { kEntriesMax = 1 << 20, kShareOfLimit = 64, kPageBytes = 4096, kThreadsField = 20 };

HOT_CALL struct fd_entry *fd_entries;
HOT_CALL uint32_t fd_limit;
HOT_CALL uint32_t fd_high;
size_t fd_table_bytes;

// `bytes`, or a 64th of the resource limit if that is less.
static uint64_t share_of(int resource, uint64_t bytes) {
  struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  raw_syscall4(SYS_prlimit64, 0, resource, 0, (long)&limit);
  if (limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur / kShareOfLimit) return bytes;
  return limit.rlim_cur / kShareOfLimit / kPageBytes * kPageBytes;
}

void fd_table_create(void) {
  if (fd_entries || in_vfork_child()) return;
  uint64_t bytes = share_of(RLIMIT_DATA, share_of(RLIMIT_AS, kEntriesMax * sizeof(struct fd_entry)));
  if (!bytes) return;
  long at =
      raw_syscall(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at < 0) return;
  struct fd_entry *none = 0;
  if (__atomic_compare_exchange_n(&fd_entries, &none, (struct fd_entry *)at, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    fd_table_bytes = bytes;
    __atomic_store_n(&fd_limit, (uint32_t)(bytes / sizeof(struct fd_entry)), __ATOMIC_RELEASE);
  } else {
    raw_syscall2(SYS_munmap, at, (long)bytes);  // another thread was first
  }
}

// The table stays mapped: other threads may be reading it.
void fd_table_divides(void) {
  if (in_vfork_child()) return;
  bool alone = recording_system_calls_allowed() && process_stat_field(kThreadsField) == 1;
  if (!alone) __atomic_store_n(&fd_limit, 0, __ATOMIC_RELEASE);
}

// Maps shared memory, which does not count as data, in place of the entries behind the new end. Other threads that are
// reading there find empty entries.
void fd_table_fit_data_limit(void) {
  if (!fd_limit || in_vfork_child()) return;
  uint64_t bytes = fd_limit * sizeof(struct fd_entry), kept = share_of(RLIMIT_DATA, bytes);
  uint64_t used = (fd_high * sizeof(struct fd_entry) + kPageBytes - 1) / kPageBytes * kPageBytes;
  if (kept < used) kept = used;
  if (kept >= bytes) return;
  __atomic_store_n(&fd_limit, (uint32_t)(kept / sizeof(struct fd_entry)), __ATOMIC_RELEASE);
  raw_syscall(SYS_mmap, (long)fd_entries + (long)kept, (long)(bytes - kept), PROT_READ | PROT_WRITE,
              MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

COLD void fd_raise_high(uint32_t high) {
  uint32_t seen = __atomic_load_n(&fd_high, __ATOMIC_RELAXED);
  while (seen < high && !__atomic_compare_exchange_n(&fd_high, &seen, high, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

uint32_t fd_adopt_open_file(int fd, uint32_t open_file) {
  struct fd_entry *entry = fd_entry_of(fd);
  if (!entry || in_vfork_child()) return 0;
  fd_raise_high((uint32_t)fd + 1);
  uint32_t known = 0;
  entry->renames = control->renames;
  bool first = __atomic_compare_exchange_n(&entry->open_file, &known, open_file, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return first ? open_file : known;
}

uint32_t fd_open_folder(int fd) {
  struct fd_entry *entry = fd_entry_of(fd);
  bool is_stale = entry && entry->open_file && entry->renames != control->renames;
  if (likely(!is_stale) || entry->open_file == OPEN_FILE_LEFT_OUT || in_vfork_child()) return open_file_of(fd);
  uint32_t before = entry->open_file;
  fd_set_open_file(fd, 0);
  uint32_t now = identify_open_file(fd);
  if (unlikely(!now)) fd_adopt_open_file(fd, before);
  return now ? now : before;
}

void fd_forget_range(uint32_t first, uint32_t last) {
  if (in_vfork_child()) return;
  uint32_t end = last < fd_high ? last + 1 : fd_high;
  for (uint32_t fd = first; fd < end; fd++) fd_entries[fd] = (struct fd_entry){.open_file = 0};
}
