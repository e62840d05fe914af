// SPDX-License-Identifier: Apache-2.0
// How many bytes a vectored call asked for.
#pragma once

#include <stdint.h>
#include <sys/uio.h>

#include "preload/traced_call.h"

#pragma GCC visibility push(hidden)

// To be asked after the call. Only a call that succeeded vouches for the vector; else it is copied by way of the
// kernel, which cannot fault. 0: it cannot be read.
uint64_t io_vector_bytes(const struct iovec *vector, int count, int64_t result);

INLINE void end_vector_call(struct pending_call *call, const struct iovec *vector, int count, int64_t result) {
  compiler_barrier();
  if (unlikely(!call->start)) return;
  uint64_t end = now_ticks();
  call->requested = io_vector_bytes(vector, count, result);
  put_call(call, end, result == -1 ? -(int64_t)errno : result, 0);
}

#pragma GCC visibility pop
