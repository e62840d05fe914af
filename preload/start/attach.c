// SPDX-License-Identifier: Apache-2.0
// Attaching: the environment names the arena; one open, one mapping, one close. No descriptor stays open. Calls pass
// through in a process that is not traced, whose address space is too small, or whose library is of another version
// than mlrun.
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/alloc/alloc_hooks.h"
#include "preload/base/compiler.h"
#include "preload/base/raw_syscall.h"
#include "preload/core/filter_answers.h"
#include "preload/core/program_memory.h"
#include "preload/core/recorder.h"
#include "preload/files/fd_table.h"
#include "preload/files/path_rules.h"
#include "preload/record/channel.h"
#include "preload/record/posts.h"
#include "preload/record/process_record.h"
#include "preload/record/robust_list.h"
#include "preload/record/stack_record.h"
#include "preload/record/strings.h"
#include "preload/start/address_space.h"
#include "preload/start/inherited_filters.h"
#include "preload/start/session_arena.h"

// kArenaForPostsBytes: with a limited address space, slots of posts are mapped only if at least this much of the arena is.
enum { kSessionMaxBytes = 8448, kLeastSegments = 4, kArenaForPostsBytes = 64 << 20 };

static struct mlrun_control detached = {.state = MLRUN_STOP};
static uint32_t never;

// The variables that each call reads share a cache line. Few of our lines are still in the L1 cache at the next call: one
// more line costs a call as much as all its computation.
HOT_CALL struct mlrun_control *control = &detached;
HOT_CALL uint32_t *generation = &never;
HOT_CALL char *segments;
HOT_CALL uint32_t confinements;
HOT_CALL bool clock_is_tsc;
HOT_CALL __attribute__((aligned(64))) bool files_on = true;  // first on the cache line: gcc reverses the order
struct process_facts process;

static bool tried;
static char session_copy[kSessionMaxBytes];

static struct session_arena session_arena;

static char *map(size_t bytes, int flags, int fd) {
  long address = raw_syscall(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  return address < 0 && address > -4096 ? NULL : (char *)address;
}

// The mapped start of the arena, at least its control page; null: there is none.
static char *map_arena(const struct session_arena *arena, size_t bytes) {
  long fd = raw_syscall4(SYS_openat, AT_FDCWD, (long)arena->path, O_RDWR | O_CLOEXEC, 0);
  if (fd < 0) return NULL;
  struct stat status;
  bool whole = raw_syscall2(SYS_fstat, fd, (long)&status) == 0 && status.st_size >= (off_t)arena->bytes;
  char *mapped = whole && bytes >= MLRUN_CONTROL_BYTES ? map(bytes, MAP_SHARED, (int)fd) : NULL;
  raw_syscall1(SYS_close, fd);
  return mapped;
}

static bool is_usable(struct mlrun_control *c, size_t bytes) {
  if (c->magic != MLRUN_ARENA_MAGIC) return false;
  if (c->abi != MLRUN_ABI) {
    __atomic_add_fetch(&c->failures[MLRUN_FAIL_ABI], 1, __ATOMIC_RELAXED);
    return false;
  }
  if (bytes < c->segments_offset + (size_t)kLeastSegments * MLRUN_SEGMENT_BYTES) {
    __atomic_add_fetch(&c->failures[MLRUN_FAIL_NO_ROOM], 1, __ATOMIC_RELAXED);
    return false;
  }
  int tsc = PR_TSC_ENABLE;
  raw_syscall2(SYS_prctl, PR_GET_TSC, (long)&tsc);
  if (tsc == PR_TSC_ENABLE) return true;
  __atomic_add_fetch(&c->failures[MLRUN_FAIL_NO_CLOCK], 1, __ATOMIC_RELAXED);
  return false;
}

// The memory that the kernel wipes in a forked child: ids of strings, then the slots of posts.
struct wiped_mapping {
  char *at;
  uint32_t string_bytes, post_bytes;
};

static void start_recording(char *mapped, size_t bytes, const struct wiped_mapping *mapping) {
  struct mlrun_control *c = (struct mlrun_control *)mapped;
  size_t room = (bytes - c->segments_offset) / MLRUN_SEGMENT_BYTES;
  struct wiped_pages *wiped = (struct wiped_pages *)mapping->at;
  process.wiped = wiped;
  process.wiped_bytes = mapping->string_bytes + mapping->post_bytes;
  first_string_ids = wiped->string_ids;
  process.segment_count = room < c->segment_count ? (uint32_t)room : c->segment_count;
  process.owner = (uint32_t *)(mapped + c->owner_offset);
  process.pid = (uint32_t)raw_syscall0(SYS_getpid);
  process.parent_pid = (uint32_t)raw_syscall0(SYS_getppid);
  process.image = __atomic_add_fetch(&c->next_image, 1, __ATOMIC_RELAXED);
  process.arena = mapped;
  segments = mapped + c->segments_offset;
  clock_is_tsc = c->clock_kind == MLRUN_CLOCK_TSC;
  if (!robust_list_find()) __atomic_add_fetch(&c->failures[MLRUN_FAIL_NO_ROBUST], 1, __ATOMIC_RELAXED);
  alloc_hooks_configure(c->streams & MLRUN_STREAM_ALLOCS ? c->alloc_min_bytes : ALLOCS_OFF, c->alloc_sample_bytes,
                        c->streams & MLRUN_STREAM_ALLOC_TIMES);
  files_on = c->streams & MLRUN_STREAM_FILES;
  if (files_on) {
    fd_table_create();
    path_rules_load(mapped + MLRUN_CONTROL_BYTES, c->rules_bytes);
    if (mapping->post_bytes) post_slots = (struct post_slot *)(mapping->at + mapping->string_bytes);
  }
  stacks_begin(c);
  wiped->process_number = __atomic_add_fetch(&c->next_process, 1, __ATOMIC_RELAXED);
  wiped->generation = MLRUN_RUN;
  generation = &wiped->generation;
  __atomic_store_n(&control, c, __ATOMIC_RELEASE);
}

// False: there is no memory for it, or the kernel does not wipe it.
static bool map_wiped(struct wiped_mapping *wiped, bool limited, size_t arena_bytes) {
  wiped->string_bytes = limited ? kStringPagesFewBytes : kStringPagesBytes;
  wiped->post_bytes = !limited || arena_bytes >= kArenaForPostsBytes ? kPostSlotsBytes : 0;
  size_t bytes = wiped->string_bytes + wiped->post_bytes;
  wiped->at = map(bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
  return wiped->at && raw_syscall3(SYS_madvise, (long)wiped->at, (long)bytes, MADV_WIPEONFORK) == 0;
}

static bool open_session(const char *session) {
  bool limited;
  if (!session_parse(session, &session_arena)) return false;
  if (inherited_filters() > session_arena.filters) {
    confinements = 1;
    count_filter(&kWorstVerdict, 1);
    return false;
  }
  size_t bytes = mappable_bytes(session_arena.bytes, &limited);
  char *mapped = map_arena(&session_arena, bytes);
  if (!mapped) return false;
  struct wiped_mapping wiped;
  if (!map_wiped(&wiped, limited, bytes) || !is_usable((struct mlrun_control *)mapped, bytes)) {
    raw_syscall2(SYS_munmap, (long)mapped, (long)bytes);
    if (wiped.at) raw_syscall2(SYS_munmap, (long)wiped.at, (long)(wiped.string_bytes + wiped.post_bytes));
    return false;
  }
  raw_syscall3(SYS_madvise, (long)mapped, (long)bytes, MADV_DONTDUMP);
  start_recording(mapped, bytes, &wiped);
  return true;
}

void attach(char **environment) {
  if (!environment || __atomic_exchange_n(&tried, true, __ATOMIC_RELAXED)) return;
  const char *session = session_entry(environment);
  size_t length = session ? strlen(session) : kSessionMaxBytes;
  if (length >= kSessionMaxBytes || !open_session(session)) {
    alloc_hooks_configure(ALLOCS_OFF, 0, false);
    return;
  }
  memcpy(session_copy, session, length + 1);
  process.session = session_copy;
  process.arena_path = session_arena.path;
  process_record_collect(environment);
  if (may_record()) process_record_write();
}

// ld.so passes the environment: our constructor is the first of all, so libc has not set `environ` yet.
static __attribute__((constructor)) void load(int argc, char **argv, char **environment) {
  (void)argc;
  remember_initial_stack(argv, environment);
  attach(environment);
}
