// SPDX-License-Identifier: Apache-2.0
// Stacks in records (--stacks). A stack is a 47-bit hash of its return addresses; the first record of a process that has
// it carries the definition in the same reservation, as strings do (strings.h):
//
//   struct stack stack = stack_of_program();
//   uint64_t *w = reserve(stack.definition_bytes + ..., kind, &lap);
//   if (w) w = stack_write(&stack, w, lap);
//   ... the record at w, with stack.id ...
//   stack_release(&stack);
//
// The hash is made while walking, so the frames of a known stack are kept nowhere; those of a new one are walked again.
// Libraries that a definition names are defined before it, in a reservation of their own.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/compiler.h"
#include "preload/base/scratch.h"
#include "preload/core/recorder.h"

#pragma GCC visibility push(hidden)

// Frames of a stack at most; 0: none are recorded.
extern uint32_t stack_depth;

enum { kStackUnitBytes = 16 };  // what a call's record has more when it has a stack

struct stack {
  uint64_t id;                // 0: there is none
  uint32_t definition_bytes;  // 0: this process has written the definition
  uint32_t frames;
  char *page;  // scratch page with the words of the definition's frames, or null
  enum mlrun_stack_end end;
};

// At load, when the session is known.
void stacks_begin(struct mlrun_control *session);
void stacks_after_fork(void);

// Memory that this takes, which is not the program's. Null: none.
const void *stack_tables(size_t *bytes);

// Of the program's function that has called into this library. All zero: none, or none is wanted.
struct stack stack_of_program(void);
// Of one that has called into another library of the tracer, and of what has called it.
struct stack_start;
struct stack stack_from(const struct stack_start *start);

uint64_t *stack_write_definition(const struct stack *stack, uint64_t *at, uint8_t lap);

// Publishes the definition at `at` if it is new. Where the record goes.
INLINE uint64_t *stack_write(const struct stack *stack, uint64_t *at, uint8_t lap) {
  return likely(!stack->definition_bytes) ? at : stack_write_definition(stack, at, lap);
}

INLINE void stack_release(struct stack *stack) {
  if (unlikely(stack->page != NULL)) scratch_give(stack->page);
}

// For a record that gives its stack where others give a return address: reserves `bytes` behind the definition and
// replaces *site. Null: dropped, all of it.
uint64_t *reserve_at_stack(uint64_t *site, uint32_t bytes, uint32_t kind, uint8_t *lap);

// The last unit of a call's record that has a stack.
INLINE void write_stack_unit(uint64_t *unit, uint64_t stack_id) {
  unit[0] = 0;
  unit[1] = stack_id;
}

#pragma GCC visibility pop
