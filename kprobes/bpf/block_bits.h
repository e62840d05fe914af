// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Translates the kernel's operation and flag bits of a bio or request. They differ between kernels, so they are looked
// up by name.
#pragma once

#include "kprobes/bpf/ring.h"

enum { kOpMask = 255 };

// `NAME` is a member of enum req_op, before Linux 6.0 of enum req_opf.
#define IS_OP(op, NAME)                                                                            \
  ((op) == (bpf_core_enum_value_exists(enum req_op, NAME) ? bpf_core_enum_value(enum req_op, NAME) \
                                                          : bpf_core_enum_value(enum req_opf, NAME##___opf)))
#define HAS_BIT(bits, NAME)                                        \
  (bpf_core_enum_value_exists(enum req_flag_bits, __REQ_##NAME) && \
   ((bits) >> bpf_core_enum_value(enum req_flag_bits, __REQ_##NAME) & 1))

static __always_inline __u32 block_op(__u32 bits) {
  __u32 op = bits & kOpMask;
  if (op <= REQ_OP_DISCARD) return op;  // values 0 to 3 are the same in all kernels and in enum mlrun_block_op
  if (IS_OP(op, REQ_OP_WRITE_ZEROES)) return MLRUN_BLOCK_WRITE_ZEROES;
  if (IS_OP(op, REQ_OP_SECURE_ERASE)) return MLRUN_BLOCK_SECURE_ERASE;
  if (IS_OP(op, REQ_OP_DRV_IN) || IS_OP(op, REQ_OP_DRV_OUT)) return MLRUN_BLOCK_OTHER;
  return MLRUN_BLOCK_ZONE;
}

static __always_inline __u32 block_flags(__u32 bits) {
  return (HAS_BIT(bits, SYNC) ? MLRUN_BLOCK_SYNC : 0) | (HAS_BIT(bits, META) ? MLRUN_BLOCK_META : 0) |
         (HAS_BIT(bits, FUA) ? MLRUN_BLOCK_FUA : 0) | (HAS_BIT(bits, PREFLUSH) ? MLRUN_BLOCK_PREFLUSH : 0) |
         (HAS_BIT(bits, RAHEAD) ? MLRUN_BLOCK_READAHEAD : 0) |
         (HAS_BIT(bits, BACKGROUND) ? MLRUN_BLOCK_BACKGROUND : 0) | (HAS_BIT(bits, POLLED) ? MLRUN_BLOCK_POLLED : 0);
}
