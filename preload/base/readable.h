// SPDX-License-Identifier: Apache-2.0
// Asks the kernel whether memory can be read, without a fault and without a descriptor: rt_sigprocmask copies a signal
// set from there before it rejects the invalid operation.
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/base/raw_syscall.h"

enum { kReadablePageBytes = 4096, kNoSuchOperation = 0x7fff };

// Whether the eight bytes at `address` can be read now. Requires: system calls, or this one, are allowed
// (program_memory.h).
static inline bool is_readable_word(uint64_t address) {
  return raw_syscall4(SYS_rt_sigprocmask, kNoSuchOperation, (long)address, 0, 8) == -EINVAL;
}

// The same for [address, address + bytes), page by page. Requires: bytes >= 8.
static inline bool is_readable_range(uint64_t address, uint64_t bytes) {
  uint64_t end = address + bytes;
  if (end < address) return false;
  for (uint64_t at = address; at < end; at = (at / kReadablePageBytes + 1) * kReadablePageBytes)
    if (!is_readable_word(at)) return false;
  return true;
}
