// SPDX-License-Identifier: Apache-2.0
// The readable part of the stack. A thread's own stack is mapped from the stack pointer to its top without a gap for
// the thread's lifetime; the lowest address seen is kept. Any other stack (of a signal handler, of a coroutine) is
// probed page by page, each time again.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "preload/base/compiler.h"
#include "preload/core/thread_state.h"

#pragma GCC visibility push(hidden)

// Readable words: [low, high). stack_range_grow extends it upwards.
struct stack_range {
  uint64_t low, high;
  bool own;
};

INLINE bool is_own_stack(uint64_t address) {
  return address - this_thread.stack_low < this_thread.stack_high - this_thread.stack_low;
}

// The range around the stack pointer `sp`. False: the stack is unknown, and the kernel may not be asked.
bool find_stack_range(uint64_t sp, struct stack_range *range);

INLINE bool stack_range_begin(uint64_t sp, struct stack_range *range) {
  if (unlikely(!is_own_stack(sp))) return find_stack_range(sp, range);
  *range = (struct stack_range){sp, this_thread.stack_high, true};
  return true;
}

// Whether the word at `address`, above the range, can be read after all: possible if the range is not the thread's own
// stack.
bool stack_range_grow(struct stack_range *range, uint64_t address);

INLINE bool can_read_word(struct stack_range *range, uint64_t address) {
  if (unlikely(address % 8 || address < range->low)) return false;
  return likely(address < range->high) || stack_range_grow(range, address);
}

#pragma GCC visibility pop
