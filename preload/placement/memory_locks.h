// SPDX-License-Identifier: Apache-2.0
// mlockall. Blocks are carved from memory that is there already, so this gets the locks that the kernel gives to new mappings:
//
//   MCL_CURRENT alone     unused memory is unlocked again, and so is the page from which a range grows: new blocks are neither locked nor filled
//   with MCL_FUTURE       both are locked: new blocks are, those from new pages at once, others when they are touched. With MCL_CURRENT
//                         too the kernel has done it; else unused memory is locked run by run, as far as the count of pieces allows (policy.h)
//
// Pages of live blocks and of the program's mappings are left to the kernel. What blocks of the yard have left is unmapped, and nothing is kept there
// until munlockall.
#pragma once

#include <stdbool.h>
#include <sys/mman.h>

#include "preload/base/compiler.h"

#ifndef MCL_ONFAULT
#define MCL_ONFAULT 4
#endif

#pragma GCC visibility push(hidden)

extern int locked_later;  // MCL_FUTURE, with or without MCL_ONFAULT; 0: new mappings are not locked

extern bool blocks_are_locked;  // mlockall may have locked the pages of blocks, or will

// Whether what a block leaves mapped may be locked: it would be locked memory that no block uses, or go to a block that shall not be locked.
INLINE bool blocks_may_be_locked(void) { return unlikely(__atomic_load_n(&blocks_are_locked, __ATOMIC_RELAXED)); }

INLINE bool new_memory_is_locked(void) { return unlikely(__atomic_load_n(&locked_later, __ATOMIC_RELAXED) != 0); }

// Whether the kernel fills new mappings at once.
INLINE bool new_memory_is_filled(void) {
  return unlikely(__atomic_load_n(&locked_later, __ATOMIC_RELAXED) == MCL_FUTURE);
}

// To be called after mlockall(flags) has succeeded, or mlrun has locked the program's mappings one by one instead.
void follow_mlockall(int flags);

// To be called when all locks have ended: after munlockall, and in a forked child, which inherits none.
void forget_locks(void);

#pragma GCC visibility pop
