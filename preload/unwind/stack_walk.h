// SPDX-License-Identifier: Apache-2.0
// Walks the stack outwards, frame by frame:
//
//   struct stack_walk walk;
//   if (stack_walk_begin(&walk, start))
//     do use(walk.pc); while (stack_walk_next(&walk));
//   walk.end says why it ended
//
// Reads only the stack, within bounds known to be readable, and tables of mapped modules; the usual step is one lookup
// in the cache of rows. Any thread, any signal handler.
#pragma once

#include "preload/unwind/stack_bounds.h"
#include "preload/unwind/unwind_cache.h"
#include "runner/events/record.h"

#pragma GCC visibility push(hidden)

// Registers at some point of a function.
struct stack_start {
  uint64_t pc, sp, bp;
};

// Registers of the caller of the function in which this is inlined, at that call: the builtin makes the compiler give the
// function a frame pointer.
INLINE struct stack_start stack_start_of_caller(void) {
  const uint64_t *frame = (const uint64_t *)__builtin_frame_address(0);
  return (struct stack_start){.pc = frame[1], .sp = (uint64_t)(frame + 2), .bp = frame[0]};
}

struct stack_walk {
  uint64_t pc, sp, bp;
  uint8_t handlers;  // signal handlers left so far
  bool interrupted;  // pc is not a return address: it is the next instruction of a function that a signal interrupted
  struct stack_range range;
  enum mlrun_stack_end end;
};

INLINE bool stack_walk_ended(struct stack_walk *walk, enum mlrun_stack_end end) {
  walk->end = end;
  return false;
}

INLINE bool stack_walk_begin(struct stack_walk *walk, const struct stack_start *start) {
  walk->pc = start->pc;
  walk->sp = start->sp;
  walk->bp = start->bp;
  walk->handlers = 0;
  walk->interrupted = false;
  return stack_range_begin(start->sp, &walk->range) || stack_walk_ended(walk, MLRUN_STACK_BROKEN);
}

// Steps to the caller's frame, with stack pointer `cfa` and rbp saved at `saved_bp` (0: unchanged).
INLINE bool stack_walk_to(struct stack_walk *walk, uint64_t cfa, uint64_t saved_bp) {
  if (unlikely(cfa <= walk->sp || !can_read_word(&walk->range, cfa - 8)))
    return stack_walk_ended(walk, MLRUN_STACK_BROKEN);
  if (saved_bp) {
    if (unlikely(!can_read_word(&walk->range, saved_bp))) return stack_walk_ended(walk, MLRUN_STACK_BROKEN);
    walk->bp = *(const uint64_t *)saved_bp;
  }
  walk->pc = *(const uint64_t *)(cfa - 8);
  walk->sp = cfa;
  walk->interrupted = false;
  return likely(walk->pc != 0) || stack_walk_ended(walk, MLRUN_STACK_ROOT);
}

// The address whose row is looked up: after a call the next instruction may belong to another function.
INLINE uint64_t stack_walk_address(const struct stack_walk *walk) { return walk->pc - !walk->interrupted; }

// A step by any kind of row; ROW_NONE: the row is computed first.
bool stack_walk_by(struct stack_walk *walk, uint32_t row);

INLINE bool stack_walk_next(struct stack_walk *walk) {
  uint32_t row = unwind_cache_find(stack_walk_address(walk));
  enum row_kind kind = row_kind(row);
  uint64_t cfa = walk->sp + row_cfa_bytes(row);
  if (kind == ROW_SP) return stack_walk_to(walk, cfa, 0);
  if (kind == ROW_SP_BP) return stack_walk_to(walk, cfa, cfa + (uint64_t)row_bp_bytes(row));
  return stack_walk_by(walk, row);
}

#pragma GCC visibility pop
