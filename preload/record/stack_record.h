// SPDX-License-Identifier: Apache-2.0
// Stacks in records (--stacks). A stack is a 47-bit hash of its return addresses; the first record of a process that
// has it carries the definition in the same reservation, as strings do (strings.h):
//
//   struct stack stack = stack_of_program();
//   uint64_t *w = reserve(stack.definition_bytes + ..., kind, &lap);
//   if (w) w = stack_write(&stack, w, lap);
//   ... the record at w, with stack.id ...
//   stack_release(&stack);
//
// The hash is computed while walking, so the frames of a known stack are not stored; those of a new one are walked
// again. Libraries that a definition names are defined before it, in a reservation of their own.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/compiler.h"
#include "preload/base/scratch.h"
#include "preload/core/recorder.h"

#pragma GCC visibility push(hidden)

// Maximum frames of a stack; 0: no stacks are recorded.
extern uint32_t stack_depth;

enum { kStackUnitBytes = 16 };  // extra size of a call's record with a stack

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

// The mapping of the tables for stacks, and its size: memory of this library, not of the program. Null: there is none.
const void *stack_tables(size_t *bytes);

// The stack from the program's function that called into this library. All zero: none, or stacks are off.
struct stack stack_of_program(void);
// The stack from the program's function that called into another library of the tracer.
struct stack_start;
struct stack stack_from(const struct stack_start *start);

uint64_t *stack_write_definition(const struct stack *stack, uint64_t *at, uint8_t lap);

// Publishes the definition at `at` if it is new. Returns where the record goes.
INLINE uint64_t *stack_write(const struct stack *stack, uint64_t *at, uint8_t lap) {
  return likely(!stack->definition_bytes) ? at : stack_write_definition(stack, at, lap);
}

INLINE void stack_release(struct stack *stack) {
  if (unlikely(stack->page != NULL)) scratch_give(stack->page);
}

// For a record with its stack in place of a return address: reserves `bytes` behind the definition and replaces *site.
// Null: both are dropped.
uint64_t *reserve_at_stack(uint64_t *site, uint32_t bytes, uint32_t kind, uint8_t *lap);

// The last unit of a call's record with a stack.
INLINE void write_stack_unit(uint64_t *unit, uint64_t stack_id) {
  unit[0] = 0;
  unit[1] = stack_id;
}

#pragma GCC visibility pop
