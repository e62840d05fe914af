// SPDX-License-Identifier: Apache-2.0
// Seccomp filters that the program installs. Under one the recorder makes no system call, and the placement library only those that libc's allocator
// makes too. Each of the two libraries has counts of its own.
//
//   begin_confinement()    before the call that installs the filter, because other threads make system calls meanwhile
//   the program's call
//   end_confinement()      takes it back if the call has failed: programs also try what the kernel has
//
// The filter of a child that shares its parent's memory (vfork, clone with CLONE_VM) is not its parent's. Such a child runs on the thread-local state
// of the thread that has made it, which waits meanwhile. So the filter is noted there, in the form of a robust mutex that the child holds: the
// kernel marks it when the child executes a program or ends. From then on the thread is the parent's.
#pragma once

#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/base/compiler.h"
#include "preload/core/thread_state.h"

#pragma GCC visibility push(hidden)

// Filters of this process that are installed, or being installed. One word that threads only add to and subtract from: a flag beside it would have to
// be restored, while other threads change it.
extern uint32_t confinements;

enum confinement { kOfProcess, kOfChild, kOfConfinedChild };

// process: pid of the process whose memory this is; 0: unknown.
enum confinement begin_confinement(uint32_t process);
void end_confinement(enum confinement begun, bool succeeded);

INLINE bool child_is_confined(void) {
  uint32_t lock = __atomic_load_n(&this_thread.confined_child.lock, __ATOMIC_RELAXED);
  return unlikely(lock != 0) && !(lock & FUTEX_OWNER_DIED);
}

// Whether a filter may forbid what the calling thread does, or end the process for it.
INLINE bool is_confined(void) {
  return unlikely(__atomic_load_n(&confinements, __ATOMIC_RELAXED) != 0) || child_is_confined();
}

#pragma GCC visibility pop
