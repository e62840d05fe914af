// SPDX-License-Identifier: Apache-2.0
// Expressions in call frame information, as far as compilers and libc use them: sums of rsp or rbp and a constant, or
// the value stored there. rip is known (it is the address itself), so the expressions of PLT entries can be evaluated
// too.
#pragma once

#include "preload/unwind/cfi_program.h"

#pragma GCC visibility push(hidden)

enum address_base { BASE_NONE, BASE_SP, BASE_BP, BASE_OTHER };

// base + offset, or the value stored there.
struct frame_address {
  enum address_base base;
  bool is_indirect;
  int64_t offset;
};

// False: it is not of that form.
bool evaluate_cfi_expression(struct cfi_bytes expression, uint64_t address, struct frame_address *result);

#pragma GCC visibility pop
