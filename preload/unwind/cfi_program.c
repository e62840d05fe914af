// SPDX-License-Identifier: Apache-2.0
#include "preload/unwind/cfi_program.h"

#include <stddef.h>

#include "preload/unwind/cfi_expression.h"
#include "preload/unwind/unwind_row.h"
#include "runner/events/record.h"

// DW_CFA_*; the first three hold an operand in their low six bits.
enum {
  kAdvance = 0x40,
  kOffset = 0x80,
  kRestore = 0xc0,
  kNop = 0,
  kSetLocation = 1,
  kAdvance1 = 2,
  kAdvance2 = 3,
  kAdvance4 = 4,
  kOffsetExtended = 5,
  kRestoreExtended = 6,
  kUndefined = 7,
  kSameValue = 8,
  kRegister = 9,
  kRememberState = 10,
  kRestoreState = 11,
  kDefineCfa = 12,
  kDefineCfaRegister = 13,
  kDefineCfaOffset = 14,
  kDefineCfaExpression = 15,
  kExpression = 16,
  kOffsetExtendedSigned = 17,
  kDefineCfaSigned = 18,
  kDefineCfaOffsetSigned = 19,
  kValueOffset = 20,
  kValueOffsetSigned = 21,
  kValueExpression = 22,
  kArgumentsSize = 0x2e,
  kNegativeOffsetExtended = 0x2f
};

enum { kRegisterBp = 6, kRegisterSp = 7, kRegisterReturn = 16, kRememberedMax = 4 };

enum rule { RULE_SAME, RULE_AT_CFA, RULE_AT_BP, RULE_UNDEFINED, RULE_OTHER };

struct saved_register {
  enum rule rule;
  int64_t offset;  // RULE_AT_CFA
};

struct row_state {
  struct frame_address cfa;
  struct saved_register bp, return_address;
};

struct run {
  const struct cfi_context *context;
  struct row_state now, initial;
  struct row_state remembered[kRememberedMax];
  unsigned remembered_count;
  uint64_t location;
  bool failed;
};

// Null: a register that is not tracked.
static struct saved_register *followed(struct row_state *state, uint64_t number) {
  if (number == kRegisterBp) return &state->bp;
  return number == kRegisterReturn ? &state->return_address : NULL;
}

static void set_rule(struct run *run, uint64_t number, enum rule rule, int64_t offset) {
  struct saved_register *saved = followed(&run->now, number);
  if (saved) *saved = (struct saved_register){rule, offset};
}

static void restore_rule(struct run *run, uint64_t number) {
  struct saved_register *saved = followed(&run->now, number);
  if (saved) *saved = *followed(&run->initial, number);
}

static void set_cfa_register(struct run *run, uint64_t number) {
  run->now.cfa.base = number == kRegisterSp ? BASE_SP : number == kRegisterBp ? BASE_BP : BASE_OTHER;
  run->now.cfa.is_indirect = false;
}

static void set_cfa_offset(struct run *run, int64_t offset) { run->now.cfa.offset = offset; }

static struct cfi_bytes take_block(struct cfi_bytes *bytes) {
  uint64_t length = cfi_uleb(bytes);
  struct cfi_bytes block = {bytes->at, bytes->end};
  if (length <= (uint64_t)(bytes->end - bytes->at)) block.end = bytes->at + length;
  bytes->at = block.end;
  return block;
}

// Where gcc realigns a stack, the rule for rbp is "saved where rbp itself points to".
static void set_expression(struct run *run, uint64_t number, struct cfi_bytes block) {
  struct frame_address place;
  bool at_bp = evaluate_cfi_expression(block, run->context->address, &place) && place.base == BASE_BP &&
               !place.is_indirect && place.offset == 0;
  set_rule(run, number, at_bp ? RULE_AT_BP : RULE_OTHER, 0);
}

static void set_cfa_expression(struct run *run, struct cfi_bytes block) {
  if (!evaluate_cfi_expression(block, run->context->address, &run->now.cfa)) run->now.cfa.base = BASE_OTHER;
}

static void remember(struct run *run) {
  if (run->remembered_count == kRememberedMax)
    run->failed = true;
  else
    run->remembered[run->remembered_count++] = run->now;
}

static void recall(struct run *run) {
  if (run->remembered_count == 0)
    run->failed = true;
  else
    run->now = run->remembered[--run->remembered_count];
}

// Instructions with their operation in the low six bits. False: unknown.
static bool run_extended(struct run *run, uint8_t operation, struct cfi_bytes *bytes) {
  const struct cfi_context *c = run->context;
  uint64_t number;
  switch (operation) {
    case kNop: return true;
    case kSetLocation: return cfi_pointer(bytes, c->pointer_encoding, &run->location);
    case kAdvance1: run->location += cfi_unsigned(bytes, 1) * c->code_align; return true;
    case kAdvance2: run->location += cfi_unsigned(bytes, 2) * c->code_align; return true;
    case kAdvance4: run->location += cfi_unsigned(bytes, 4) * c->code_align; return true;
    case kOffsetExtended:
      number = cfi_uleb(bytes);
      set_rule(run, number, RULE_AT_CFA, (int64_t)cfi_uleb(bytes) * c->data_align);
      return true;
    case kOffsetExtendedSigned:
      number = cfi_uleb(bytes);
      set_rule(run, number, RULE_AT_CFA, cfi_sleb(bytes) * c->data_align);
      return true;
    case kNegativeOffsetExtended:
      number = cfi_uleb(bytes);
      set_rule(run, number, RULE_AT_CFA, -((int64_t)cfi_uleb(bytes) * c->data_align));
      return true;
    case kRestoreExtended: restore_rule(run, cfi_uleb(bytes)); return true;
    case kUndefined: set_rule(run, cfi_uleb(bytes), RULE_UNDEFINED, 0); return true;
    case kSameValue: set_rule(run, cfi_uleb(bytes), RULE_SAME, 0); return true;
    case kRegister:
    case kValueOffset:
    case kValueOffsetSigned:
      set_rule(run, cfi_uleb(bytes), RULE_OTHER, 0);
      cfi_uleb(bytes);
      return true;
    case kRememberState: remember(run); return true;
    case kRestoreState: recall(run); return true;
    case kDefineCfa:
      set_cfa_register(run, cfi_uleb(bytes));
      set_cfa_offset(run, (int64_t)cfi_uleb(bytes));
      return true;
    case kDefineCfaSigned:
      set_cfa_register(run, cfi_uleb(bytes));
      set_cfa_offset(run, cfi_sleb(bytes) * c->data_align);
      return true;
    case kDefineCfaRegister: set_cfa_register(run, cfi_uleb(bytes)); return true;
    case kDefineCfaOffset: set_cfa_offset(run, (int64_t)cfi_uleb(bytes)); return true;
    case kDefineCfaOffsetSigned: set_cfa_offset(run, cfi_sleb(bytes) * c->data_align); return true;
    case kDefineCfaExpression: set_cfa_expression(run, take_block(bytes)); return true;
    case kExpression:
      number = cfi_uleb(bytes);
      set_expression(run, number, take_block(bytes));
      return true;
    case kValueExpression:
      set_rule(run, cfi_uleb(bytes), RULE_OTHER, 0);
      take_block(bytes);
      return true;
    case kArgumentsSize: cfi_uleb(bytes); return true;
  }
  return false;
}

static void run_instructions(struct run *run, struct cfi_bytes bytes) {
  const struct cfi_context *c = run->context;
  while (bytes.at < bytes.end && run->location <= c->address && !run->failed) {
    uint8_t byte = *bytes.at++, operand = byte & 0x3f;
    switch (byte & 0xc0) {
      case kAdvance: run->location += operand * c->code_align; break;
      case kOffset: set_rule(run, operand, RULE_AT_CFA, (int64_t)cfi_uleb(&bytes) * c->data_align); break;
      case kRestore: restore_rule(run, operand); break;
      default: run->failed = !run_extended(run, operand, &bytes); break;
    }
  }
}

static uint32_t end_row(enum mlrun_stack_end end) { return make_row(ROW_END, (int64_t)end, 0); }

// Makes a row. It cannot encode offsets that are not multiples of 8, or too large: then the walk ends here.
static uint32_t row_of(enum row_kind kind, int64_t cfa_bytes, int64_t bp_bytes) {
  if (cfa_bytes % 8 || bp_bytes % 8 || !row_fits(cfa_bytes / 8, bp_bytes / 8)) return end_row(MLRUN_STACK_NO_TABLE);
  return make_row(kind, cfa_bytes / 8, bp_bytes / 8);
}

static uint32_t row_of_state(const struct cfi_context *context, const struct row_state *s) {
  enum { kInterruptedSp = 160 };  // in the frame that the kernel builds for a handler
  const struct frame_address *cfa = &s->cfa;
  if (context->is_signal_frame)
    return cfa->base == BASE_SP && cfa->is_indirect && cfa->offset == kInterruptedSp ? make_row(ROW_SIGNAL, 0, 0)
                                                                                     : end_row(MLRUN_STACK_NO_TABLE);
  if (s->return_address.rule == RULE_UNDEFINED) return end_row(MLRUN_STACK_ROOT);
  bool usual = s->return_address.rule == RULE_AT_CFA && s->return_address.offset == -8;
  if (!usual || s->bp.rule == RULE_OTHER) return end_row(MLRUN_STACK_NO_TABLE);
  bool saved = s->bp.rule == RULE_AT_CFA;
  if (cfa->base == BASE_SP && !cfa->is_indirect && s->bp.rule != RULE_AT_BP)
    return row_of(saved ? ROW_SP_BP : ROW_SP, cfa->offset, saved ? s->bp.offset : 0);
  if (cfa->base == BASE_BP && !cfa->is_indirect && saved) return row_of(ROW_BP, cfa->offset, s->bp.offset);
  if (cfa->base == BASE_BP && cfa->is_indirect && s->bp.rule == RULE_AT_BP)
    return row_of(ROW_REALIGNED, -cfa->offset, 0);
  return end_row(MLRUN_STACK_NO_TABLE);
}

uint32_t run_cfi(const struct cfi_context *context, struct cfi_bytes initial, struct cfi_bytes instructions) {
  struct run run = {.context = context, .location = context->start};
  run_instructions(&run, initial);
  run.location = context->start;
  run.initial = run.now;
  run_instructions(&run, instructions);
  return run.failed ? end_row(MLRUN_STACK_NO_TABLE) : row_of_state(context, &run.now);
}
