// SPDX-License-Identifier: Apache-2.0
#include "preload/core/confinement.h"

#include <stddef.h>

#include "preload/base/raw_syscall.h"

enum { kLockBehindEntry = offsetof(struct confined_child, lock) - offsetof(struct confined_child, entry) };

// The kernel knows no robust list of a child that shares its parent's memory, unless the other one of the two libraries has registered its own: both
// notes are in that one then. False: not possible.
static bool link_note(struct confined_child *note) {
  struct robust_list_head *head = NULL;
  size_t bytes = 0;
  if (raw_syscall3(SYS_get_robust_list, 0, (long)&head, (long)&bytes) < 0) return false;
  if (!head) {
    head = &note->list;
    head->list.next = &head->list;
    head->futex_offset = kLockBehindEntry;
    head->list_op_pending = NULL;
    if (raw_syscall2(SYS_set_robust_list, (long)head, sizeof *head) < 0) return false;
  }
  if (head->futex_offset != kLockBehindEntry) return false;
  note->entry.next = head->list.next;
  head->list.next = &note->entry;
  return true;
}

static bool note_child(void) {
  struct confined_child *note = &this_thread.confined_child;
  uint32_t tid = (uint32_t)raw_syscall0(SYS_gettid);
  bool is_linked = (note->lock & FUTEX_TID_MASK) == tid;  // it has tried a filter before
  if (!is_linked && !link_note(note)) return false;
  __atomic_store_n(&note->lock, tid, __ATOMIC_RELAXED);
  return true;
}

enum confinement begin_confinement(uint32_t process) {
  if (child_is_confined()) return kOfConfinedChild;
  bool is_child = process && !is_confined() && (uint32_t)raw_syscall0(SYS_getpid) != process;
  if (is_child && note_child()) return kOfChild;
  __atomic_fetch_add(&confinements, 1, __ATOMIC_SEQ_CST);
  return kOfProcess;
}

void end_confinement(enum confinement begun, bool succeeded) {
  if (succeeded) return;
  if (begun == kOfProcess) __atomic_fetch_sub(&confinements, 1, __ATOMIC_SEQ_CST);
  if (begun == kOfChild) __atomic_fetch_or(&this_thread.confined_child.lock, FUTEX_OWNER_DIED, __ATOMIC_RELAXED);
}
