// SPDX-License-Identifier: Apache-2.0
// MCL_ONFAULT marks all mappings as locked without touching them; ours are then unmarked, and each of the program's is
// locked and filled. If the kernel refuses because the process's mappings exceed the limit of locked memory, but without
// ours they do not, the program's mappings are locked one by one.
#include "preload/start/memory_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "preload/base/raw_syscall.h"
#include "preload/base/scratch.h"
#include "preload/core/recorder.h"
#include "preload/files/fd_table.h"
#include "preload/record/channel.h"
#include "preload/record/stack_record.h"
#include "runner/events/placement.h"

extern const struct mlrun_placement_view mlrun_placement_view __attribute__((weak));

enum { kOurMappings = 4 };

struct range {
  uintptr_t start, end;
};

struct ours {
  struct range ranges[kOurMappings];
};

static struct range range_of(const void *start, size_t bytes) {
  return (struct range){(uintptr_t)start, (uintptr_t)start + bytes};
}

static struct ours find_ours(void) {
  size_t arena_bytes = (size_t)(segments - process.arena) + (size_t)process.segment_count * MLRUN_SEGMENT_BYTES;
  size_t stack_bytes;
  const void *stacks = stack_tables(&stack_bytes);
  return (struct ours){{range_of(stacks, stack_bytes), range_of(process.arena, arena_bytes),
                        range_of(process.wiped, process.wiped_bytes), range_of(fd_entries, fd_table_bytes)}};
}

static bool is_ours(const struct ours *ours, const struct range *mapping) {
  for (int i = 0; i < kOurMappings; i++)
    if (mapping->start >= ours->ranges[i].start && mapping->start < ours->ranges[i].end) return true;
  return false;
}

// Consumes one character of /proc/self/maps, "start-end perms ..." a line. True: the range of a line is complete.
static bool take_digit(struct range *r, int *field, char c) {
  unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
  if (c == '\n') {
    *field = 0;
    *r = (struct range){0, 0};
  } else if (*field == 0 && digit < 16) {
    r->start = r->start << 4 | digit;
  } else if (*field == 1 && digit < 16) {
    r->end = r->end << 4 | digit;
  } else if (*field < 2) {
    return ++*field == 2;
  }
  return false;
}

// Calls each(mapping, sum) for the mappings that are not ours. False: they cannot be read.
static bool for_each_mapping(const struct ours *ours, void (*each)(const struct range *, size_t *), size_t *sum) {
  char *text = scratch_take();
  long fd = text ? raw_syscall4(SYS_openat, AT_FDCWD, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0) : -1;
  struct range r = {0, 0};
  int field = 0;
  for (long bytes; fd >= 0 && (bytes = raw_syscall3(SYS_read, fd, (long)text, kScratchBytes)) > 0;)
    for (long i = 0; i < bytes; i++)
      if (take_digit(&r, &field, text[i]) && !is_ours(ours, &r)) each(&r, sum);
  if (fd >= 0) raw_syscall1(SYS_close, fd);
  scratch_give(text);
  return fd >= 0;
}

// Some mappings (the kernel's own, those without access) cannot be filled; mlockall skips them too.
static void lock(const struct range *r, size_t *locked) {
  *locked += r->end - r->start;
  raw_syscall2(SYS_mlock, (long)r->start, (long)(r->end - r->start));
}

static void add_bytes(const struct range *r, size_t *sum) { *sum += r->end - r->start; }

static void unlock_ours(const struct ours *ours) {
  for (int i = 0; i < kOurMappings; i++)
    if (ours->ranges[i].start)
      raw_syscall2(SYS_munlock, (long)ours->ranges[i].start, (long)(ours->ranges[i].end - ours->ranges[i].start));
}

static bool fits_without_ours(const struct ours *ours) {
  struct rlimit limit = {0, 0};
  size_t bytes = 0;
  raw_syscall4(SYS_prlimit64, 0, RLIMIT_MEMLOCK, 0, (long)&limit);
  return for_each_mapping(ours, add_bytes, &bytes) && bytes <= limit.rlim_cur;
}

int lock_all_but_ours(int flags, int (*real)(int)) {
  bool now = (flags & MCL_CURRENT) && !(flags & ~(MCL_CURRENT | MCL_FUTURE));
  if (!now || !process.arena || in_vfork_child() || !recording_system_calls_allowed()) return real(flags);
  struct ours ours = find_ours();
  size_t locked = 0;
  int error = errno, result = real(flags | MCL_ONFAULT);
  if (result && (errno != ENOMEM || !fits_without_ours(&ours))) return result;
  if (!result) unlock_ours(&ours);
  bool done = for_each_mapping(&ours, lock, &locked);
  errno = error;
  if (!done) return real(flags);
  if (flags & MCL_FUTURE) return real(MCL_FUTURE);
  if (&mlrun_placement_view) mlrun_placement_view.follow_mlockall(flags);
  return 0;
}
