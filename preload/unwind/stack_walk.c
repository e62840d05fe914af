// SPDX-License-Identifier: Apache-2.0
#include "preload/unwind/stack_walk.h"

#include "preload/unwind/code_modules.h"
#include "preload/unwind/unwind_table.h"

// struct rt_sigframe behind its return address: offsets of the interrupted registers.
enum { kSavedBp = 120, kSavedSp = 160, kSavedPc = 168 };

static COLD uint32_t make_missing_row(uint64_t address) {
  struct code_module module;
  uint32_t generation = __atomic_load_n(&code_generation, __ATOMIC_ACQUIRE);
  enum module_search found = find_code_module(address, &module);
  if (found == MODULE_BUSY) return make_row(ROW_END, MLRUN_STACK_BUSY, 0);
  if (found == MODULE_NONE) return make_row(ROW_END, MLRUN_STACK_UNKNOWN_CODE, 0);
  uint32_t row = row_from_tables(&module, address);
  if (__atomic_load_n(&code_generation, __ATOMIC_ACQUIRE) == generation) unwind_cache_put(address, row);
  return row;
}

// The kernel's frame for a signal handler: the walk continues at the interrupted instruction, perhaps on another stack.
static COLD bool leave_signal_handler(struct stack_walk *walk) {
  enum { kHandlersMax = 16 };  // more may be a cycle
  uint64_t context = walk->sp;
  if (++walk->handlers > kHandlersMax || !can_read_word(&walk->range, context + kSavedPc) ||
      !can_read_word(&walk->range, context))
    return stack_walk_ended(walk, MLRUN_STACK_BROKEN);
  walk->pc = *(const uint64_t *)(context + kSavedPc);
  walk->bp = *(const uint64_t *)(context + kSavedBp);
  walk->sp = *(const uint64_t *)(context + kSavedSp);
  walk->interrupted = true;
  if (walk->range.own && is_own_stack(walk->sp) && walk->sp > context) return true;
  return stack_range_begin(walk->sp & ~7ull, &walk->range) || stack_walk_ended(walk, MLRUN_STACK_BROKEN);
}

static bool is_code(uint64_t address) {
  struct code_module module;
  return find_code_module(address, &module) == MODULE_FOUND;
}

// A frame found by frame pointer alone is accepted only if its address looks like a caller's.
static COLD bool is_believable(const struct stack_walk *walk, uint64_t cfa) {
  return cfa > walk->sp && is_code(*(const uint64_t *)(cfa - 8) - 1);
}

bool stack_walk_by(struct stack_walk *walk, uint32_t row) {
  if (unlikely(!row)) row = make_missing_row(stack_walk_address(walk));
  uint64_t cfa;
  switch (row_kind(row)) {
    case ROW_SP: return stack_walk_to(walk, walk->sp + row_cfa_bytes(row), 0);
    case ROW_SP_BP:
      cfa = walk->sp + row_cfa_bytes(row);
      return stack_walk_to(walk, cfa, cfa + (uint64_t)row_bp_bytes(row));
    case ROW_BP:
      cfa = walk->bp + row_cfa_bytes(row);
      return stack_walk_to(walk, cfa, cfa + (uint64_t)row_bp_bytes(row));
    case ROW_REALIGNED: {
      uint64_t place = walk->bp - row_cfa_bytes(row);
      if (!can_read_word(&walk->range, place)) return stack_walk_ended(walk, MLRUN_STACK_BROKEN);
      return stack_walk_to(walk, *(const uint64_t *)place, walk->bp);
    }
    case ROW_POINTER:
      cfa = walk->bp + row_cfa_bytes(row);
      if (!can_read_word(&walk->range, cfa - 8) || !is_believable(walk, cfa))
        return stack_walk_ended(walk, MLRUN_STACK_NO_TABLE);
      return stack_walk_to(walk, cfa, cfa + (uint64_t)row_bp_bytes(row));
    case ROW_SIGNAL: return leave_signal_handler(walk);
    case ROW_NONE:
    case ROW_END: break;
  }
  return stack_walk_ended(walk, (enum mlrun_stack_end)(row_cfa_bytes(row) / 8));
}
