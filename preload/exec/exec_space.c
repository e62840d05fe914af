// SPDX-License-Identifier: Apache-2.0
#include "preload/exec/exec_space.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include "preload/base/raw_syscall.h"
#include "preload/base/scratch.h"
#include "preload/core/recorder.h"

struct exec_space {
  struct exec_space *outer;
  size_t mapped;   // bytes; 0: a scratch page
  uint32_t taker;  // pid of the process that took it; 0: unknown, system calls are not allowed
};
enum { kHeaderBytes = 32 };
_Static_assert(sizeof(struct exec_space) <= kHeaderBytes, "what follows is aligned as its header");

static uint32_t this_process(void) { return recording_system_calls_allowed() ? (uint32_t)raw_syscall0(SYS_getpid) : 0; }

static void release_last(void) {
  struct exec_space *space = this_thread.exec_spaces;
  this_thread.exec_spaces = space->outer;
  if (space->mapped)
    raw_syscall2(SYS_munmap, (long)space, (long)space->mapped);
  else
    scratch_give((char *)space);
}

// Gives back the spaces in this thread's list that other processes have taken: children that shared this memory (vfork).
// They no longer do: while they did, this thread was suspended.
static void clear_those_of_others(uint32_t process) {
  while (this_thread.exec_spaces && process && this_thread.exec_spaces->taker != process) release_last();
}

// Takes a scratch page if the bytes fit, as those of most environments do. Else maps memory; not possible after seccomp.
static struct exec_space *make(size_t bytes) {
  struct exec_space *page = bytes <= kScratchBytes ? (struct exec_space *)(void *)scratch_take() : NULL;
  if (page) page->mapped = 0;
  if (page || !recording_system_calls_allowed()) return page;
  long at = raw_syscall(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at < 0 && at >= -4095) return NULL;
  struct exec_space *space = (struct exec_space *)at;
  space->mapped = bytes;
  return space;
}

void *exec_space_take(size_t bytes) {
  uint32_t process = this_process();
  if (!in_vfork_child()) clear_those_of_others(process);
  struct exec_space *space = make(bytes + kHeaderBytes);
  if (!space) return NULL;
  space->taker = process;
  space->outer = this_thread.exec_spaces;
  this_thread.exec_spaces = space;
  return (char *)space + kHeaderBytes;
}

void exec_space_give(const void *space) {
  if (space && this_thread.exec_spaces) release_last();
}

void exec_spaces_clear(struct exec_space *last) {
  while (this_thread.exec_spaces && this_thread.exec_spaces != last) release_last();
}
