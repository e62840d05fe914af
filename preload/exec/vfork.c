// SPDX-License-Identifier: Apache-2.0
// vfork. The child runs in our memory, on our stack and with our thread state until it execs or exits, while the parent
// is suspended. Until the parent returns all hooks pass through: the cursor is behind every segment and there is no
// channel, so that the hot paths need no check of their own.
//
// The function is assembly because its frame must survive the child's return from it: rdi outlives the system call in
// both processes and keeps the return address, as in libc. A depth counts a vfork inside a vfork child.
#include <errno.h>

#include "preload/calls/process_call.h"
#include "preload/core/recorder.h"
#include "preload/exec/exec_space.h"
#include "preload/exec/vfork_exec.h"

#pragma GCC visibility push(hidden)

void vfork_enter(void);
long vfork_leave(long result);

void vfork_enter(void) {
  uint64_t start = stamp();
  if (this_thread.vfork_depth++) return;
  this_thread.vfork_start = start;
  this_thread.saved_channel = this_thread.channel;
  this_thread.saved_cursor = this_thread.cursor;
  this_thread.saved_exec_spaces = this_thread.exec_spaces;
  this_thread.channel = 0;
  this_thread.cursor = NO_SEGMENT;
}

// In the parent only. result: the child's pid, or -errno.
long vfork_leave(long result) {
  if (--this_thread.vfork_depth == 0) {
    this_thread.cursor = this_thread.saved_cursor;
    this_thread.channel = this_thread.saved_channel;
    exec_spaces_clear(this_thread.saved_exec_spaces);
    put_process_call(KIND_vfork, this_thread.vfork_start, result);
    put_vfork_execution(result, this_thread.vfork_start);
  }
  if (result >= 0) return result;
  errno = (int)-result;
  return -1;
}

#pragma GCC visibility pop

__asm__(
    ".text\n"
    ".globl vfork, __vfork\n"
    ".type vfork, @function\n"
    ".type __vfork, @function\n"
    "vfork:\n"
    "__vfork:\n"
    "  .cfi_startproc\n"
    "  subq $8, %rsp\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  call vfork_enter\n"
    "  addq $8, %rsp\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  popq %rdi\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  .cfi_register rip, rdi\n"
    "  movl $58, %eax\n"  // SYS_vfork
    "  syscall\n"
    "  pushq %rdi\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  .cfi_offset rip, -8\n"
    "  testl %eax, %eax\n"
    "  jz 1f\n"
    "  movslq %eax, %rdi\n"
    "  subq $8, %rsp\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  call vfork_leave\n"
    "  addq $8, %rsp\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "1: ret\n"
    "  .cfi_endproc\n"
    ".size vfork, .-vfork\n"
    ".size __vfork, .-__vfork\n");
