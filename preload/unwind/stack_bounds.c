// SPDX-License-Identifier: Apache-2.0
#include "preload/unwind/stack_bounds.h"

#include <signal.h>

#include "preload/base/readable.h"
#include "preload/core/recorder.h"

enum { kProbedAtOnceBytes = 16 << 20, kFrameMaxBytes = 1 << 20 };

// ld.so's variable: where the kernel has put the first thread's stack.
extern void *__libc_stack_end __attribute__((weak));

static uint64_t page_of(uint64_t address) { return address & ~(uint64_t)(kReadablePageBytes - 1); }

// A thread's control block is at the top of its stack.
static uint64_t thread_pointer(void) { return (uint64_t)__builtin_thread_pointer(); }

static uint64_t top_of_first_stack(void) { return &__libc_stack_end ? (uint64_t)__libc_stack_end & ~7ull : 0; }

// Whether the stack that contains `sp` is mapped up to `top` without a gap.
static bool reaches(uint64_t sp, uint64_t top) {
  return sp < top && top - sp <= kProbedAtOnceBytes && is_readable_range(page_of(sp), top - page_of(sp));
}

// False: `sp` is not on the thread's own stack, as far as is known.
static bool learn_own_stack(uint64_t sp) {
  if (this_thread.stack_high) {
    if (!reaches(sp, this_thread.stack_low)) return false;
  } else if (reaches(sp, thread_pointer() & ~7ull)) {
    this_thread.stack_high = thread_pointer() & ~7ull;
  } else if (reaches(sp, top_of_first_stack())) {
    this_thread.stack_high = top_of_first_stack();
  } else {
    return false;
  }
  this_thread.stack_low = page_of(sp);
  return true;
}

// Whether `sp` is near the end of a signal stack, which may be small: a walk that reads tables takes about 1.5 KiB.
static bool is_nearly_full(uint64_t sp) {
  enum { kRoomBytes = 3072 };
  stack_t stack = {.ss_flags = SS_DISABLE};
  if (raw_syscall2(SYS_sigaltstack, 0, (long)&stack) != 0 || stack.ss_flags & SS_DISABLE) return false;
  uint64_t used_from = sp - (uint64_t)stack.ss_sp;
  return used_from < stack.ss_size && used_from < kRoomBytes;
}

COLD bool find_stack_range(uint64_t sp, struct stack_range *range) {
  if (sp % 8 || !recording_system_calls_allowed()) return false;
  if (learn_own_stack(sp)) {
    *range = (struct stack_range){sp, this_thread.stack_high, true};
    return true;
  }
  *range = (struct stack_range){sp, page_of(sp) + kReadablePageBytes, false};
  return !is_nearly_full(sp) && is_readable_word(sp);
}

COLD bool stack_range_grow(struct stack_range *range, uint64_t address) {
  if (range->own || address - range->high > kFrameMaxBytes || !recording_system_calls_allowed()) return false;
  uint64_t end = page_of(address) + kReadablePageBytes;
  if (!is_readable_range(range->high, end - range->high)) return false;
  range->high = end;
  return true;
}
