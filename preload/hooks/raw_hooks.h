// SPDX-License-Identifier: Apache-2.0
// System calls made by number: which of them are recorded, and the code that records them.
#pragma once

#include <linux/futex.h>
#include <stdbool.h>

#include "preload/base/compiler.h"
#include "preload/calls/ring_watch.h"
#include "preload/record/posts.h"

#pragma GCC visibility push(hidden)

enum { kRawNumbers = 512 };
extern const bool raw_call_is_known[kRawNumbers];

// Whether a futex operation posts (wakes waiters). If so the post is noted here; the caller then makes the system call
// without a record.
INLINE bool note_futex_post(long word, long operation, long second_word) {
  const uint32_t posts =
      1u << FUTEX_WAKE | 1u << FUTEX_WAKE_BITSET | 1u << FUTEX_WAKE_OP | 1u << FUTEX_REQUEUE | 1u << FUTEX_CMP_REQUEUE;
  unsigned command = (unsigned)operation & (unsigned)FUTEX_CMD_MASK;
  if (command >= 32 || !(posts >> command & 1)) return false;
  note_post((const void *)word);
  if (command == FUTEX_WAKE_OP) note_post((const void *)second_word);
  return true;
}

// Makes the call by `real` and records it as the function of that name. Requires: raw_call_is_known[number].
long traced_raw_call(syscall_function real, long number, long a, long b, long c, long d, long e, long f);

#pragma GCC visibility pop
