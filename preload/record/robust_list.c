// SPDX-License-Identifier: Apache-2.0
// What pthread_mutex_lock does with a robust mutex, without libpthread (before glibc 2.34 libc.so.6 had only stubs of
// it) and without a system call. The list head is in the thread control block, at the same offset in every thread of a
// process:
//
//   control block ...  tid u32 | u32 | robust_prev | head: {first entry, -32, pending} ...
#include "preload/record/robust_list.h"

#include <stddef.h>

#include "preload/base/compiler.h"
#include "preload/base/raw_syscall.h"
#include "preload/core/program_memory.h"
#include "runner/events/arena.h"

struct robust_head {
  uint64_t first;        // address of an entry's `next` word; an empty list: of the head itself
  int64_t futex_offset;  // from an entry to its lock word: -32 with glibc
  uint64_t pending;      // the entry being linked or unlinked
};

enum { kTidBeforeHead = 16, kSelfInBlock = 16 };  // a control block has its own address at 16

static long head_at;  // offset in the control block, 0: not found
static bool tid_is_before_head;
// A process of an older glibc that does not link libpthread has no list, and a single thread.
static struct {
  uint64_t previous;  // as glibc has it, before the head
  struct robust_head head;
} only_thread;

static char *control_block(void) {
  char *block;
  __asm__("movq %%fs:0,%0" : "=r"(block));
  return block;
}

static struct robust_head *list_head(void) {
  return head_at ? (struct robust_head *)(control_block() + head_at) : &only_thread.head;
}

static bool is_empty_list(const struct robust_head *head) {
  return head->first == (uint64_t)head && head->futex_offset == -32;
}

static void register_list(struct robust_head *head) {
  head->first = (uint64_t)head;
  head->futex_offset = -32;
  raw_syscall2(SYS_set_robust_list, (long)head, sizeof *head);
}

static uint32_t kernel_tid(void) { return (uint32_t)raw_syscall0(SYS_gettid); }

static uint32_t control_block_tid(const char *block) {
  return tid_is_before_head ? *(const uint32_t *)(block + head_at - kTidBeforeHead) : 0;
}

bool robust_list_find(void) {
  for (long at = 0x100; at < 0x900 && !head_at; at += 8)
    if (is_empty_list((const struct robust_head *)(control_block() + at))) head_at = at;
  if (head_at) {
    tid_is_before_head = true;
    tid_is_before_head = control_block_tid(control_block()) == kernel_tid();
    return true;
  }
  uint64_t registered = 0;
  size_t bytes = 0;
  if (raw_syscall3(SYS_get_robust_list, 0, (long)&registered, (long)&bytes) < 0 || registered) return false;
  register_list(&only_thread.head);
  return true;
}

uint32_t thread_number(void) {
  uint32_t tid = control_block_tid(control_block());
  return tid ? tid : kernel_tid();
}

uint32_t thread_number_after_fork(uint32_t tid_in_parent, bool system_calls_allowed) {
  uint32_t tid = control_block_tid(control_block());
  bool stale = tid_in_parent ? tid == tid_in_parent : system_calls_allowed && tid != kernel_tid();
  if (tid && !stale) return tid;
  if (list_head()->futex_offset) register_list(list_head());
  return kernel_tid();
}

uint32_t thread_number_of(uintptr_t pthread) { return control_block_tid((const char *)pthread); }

uint32_t thread_number_if_there(uintptr_t pthread) {
  const char *block = (const char *)pthread;
  uint64_t self;
  uint32_t tid;
  if (!tid_is_before_head || !read_from_program(&self, block + kSelfInBlock, sizeof self, false)) return 0;
  if (self != pthread || !read_from_program(&tid, block + head_at - kTidBeforeHead, sizeof tid, false)) return 0;
  return tid;
}

void robust_list_hold(struct mlrun_channel *channel, uint32_t tid) {
  struct robust_head *head = list_head();
  if (!head->futex_offset) return;
  uint64_t entry = (uint64_t)&channel->node.next, pending_before = head->pending;
  head->pending = entry;
  compiler_barrier();
  channel->lock = tid;
  compiler_barrier();
  channel->node.previous = (uint64_t)&head->first - 8;
  channel->node.next = head->first;
  *(uint64_t *)((head->first & ~1ull) - 8) = entry - 8;  // bit 0 of an entry: a priority-inheriting mutex
  compiler_barrier();
  head->first = entry;
  compiler_barrier();
  head->pending = pending_before;
}
