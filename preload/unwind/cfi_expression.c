// SPDX-License-Identifier: Apache-2.0
#include "preload/unwind/cfi_expression.h"

// DW_OP_*
enum {
  kDereference = 0x06,
  kConstant1u = 0x08,
  kConstant1s = 0x09,
  kConstant2u = 0x0a,
  kConstant2s = 0x0b,
  kConstant4u = 0x0c,
  kConstant4s = 0x0d,
  kConstantUleb = 0x10,
  kConstantSleb = 0x11,
  kAnd = 0x1a,
  kMinus = 0x1c,
  kPlus = 0x22,
  kPlusConstant = 0x23,
  kShiftLeft = 0x24,
  kGreaterOrEqual = 0x2a,
  kLiteral0 = 0x30,
  kLiteral31 = 0x4f,
  kRegister0 = 0x70,
  kRegister31 = 0x8f
};

enum { kDepthMax = 4, kNumberBp = 6, kNumberSp = 7, kNumberIp = 16 };

struct evaluation {
  struct frame_address stack[kDepthMax];
  unsigned depth;
  uint64_t address;
};

static bool push(struct evaluation *e, enum address_base base, int64_t offset) {
  if (e->depth == kDepthMax) return false;
  e->stack[e->depth++] = (struct frame_address){base, false, offset};
  return true;
}

static bool push_register(struct evaluation *e, unsigned number, int64_t offset) {
  if (number == kNumberSp) return push(e, BASE_SP, offset);
  if (number == kNumberBp) return push(e, BASE_BP, offset);
  return number == kNumberIp && push(e, BASE_NONE, (int64_t)e->address + offset);
}

static bool dereference(struct evaluation *e) {
  if (!e->depth) return false;
  struct frame_address *top = &e->stack[e->depth - 1];
  if (top->base == BASE_NONE || top->is_indirect) return false;
  top->is_indirect = true;
  return true;
}

// Applies an operator to two operands; only a sum may contain a register.
static bool combine(struct evaluation *e, uint8_t operation) {
  if (e->depth < 2) return false;
  struct frame_address *a = &e->stack[e->depth - 2], b = e->stack[e->depth - 1];
  e->depth--;
  bool constants = a->base == BASE_NONE && b.base == BASE_NONE;
  if (a->is_indirect || b.is_indirect) return false;
  switch (operation) {
    case kPlus:
      if (a->base != BASE_NONE && b.base != BASE_NONE) return false;
      if (a->base == BASE_NONE) a->base = b.base;
      a->offset += b.offset;
      return true;
    case kMinus: a->offset -= b.offset; return b.base == BASE_NONE;
    case kAnd: a->offset &= b.offset; return constants;
    case kShiftLeft: a->offset = (int64_t)((uint64_t)a->offset << (b.offset & 63)); return constants;
    case kGreaterOrEqual: a->offset = a->offset >= b.offset; return constants;
    default: return false;
  }
}

static bool add_constant(struct evaluation *e, int64_t value) {
  if (!e->depth || e->stack[e->depth - 1].is_indirect) return false;
  e->stack[e->depth - 1].offset += value;
  return true;
}

static bool run_operation(struct evaluation *e, uint8_t operation, struct cfi_bytes *bytes) {
  if (operation >= kLiteral0 && operation <= kLiteral31) return push(e, BASE_NONE, operation - kLiteral0);
  if (operation >= kRegister0 && operation <= kRegister31)
    return push_register(e, operation - kRegister0, cfi_sleb(bytes));
  switch (operation) {
    case kDereference: return dereference(e);
    case kConstant1u: return push(e, BASE_NONE, (int64_t)cfi_unsigned(bytes, 1));
    case kConstant1s: return push(e, BASE_NONE, (int8_t)cfi_unsigned(bytes, 1));
    case kConstant2u: return push(e, BASE_NONE, (int64_t)cfi_unsigned(bytes, 2));
    case kConstant2s: return push(e, BASE_NONE, (int16_t)cfi_unsigned(bytes, 2));
    case kConstant4u: return push(e, BASE_NONE, (int64_t)cfi_unsigned(bytes, 4));
    case kConstant4s: return push(e, BASE_NONE, (int32_t)cfi_unsigned(bytes, 4));
    case kConstantUleb: return push(e, BASE_NONE, (int64_t)cfi_uleb(bytes));
    case kConstantSleb: return push(e, BASE_NONE, cfi_sleb(bytes));
    case kPlusConstant: return add_constant(e, (int64_t)cfi_uleb(bytes));
    default: return combine(e, operation);
  }
}

bool evaluate_cfi_expression(struct cfi_bytes expression, uint64_t address, struct frame_address *result) {
  struct evaluation e = {.address = address};
  while (expression.at < expression.end) {
    uint8_t operation = *expression.at++;
    if (!run_operation(&e, operation, &expression)) return false;
  }
  if (!e.depth) return false;
  *result = e.stack[e.depth - 1];
  return true;
}
