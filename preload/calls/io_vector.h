// SPDX-License-Identifier: Apache-2.0
// Bytes requested by a vectored call.
#pragma once

#include <stdint.h>
#include <sys/uio.h>

#include "preload/calls/traced_call.h"
#include "preload/core/program_memory.h"

#pragma GCC visibility push(hidden)

// Must be called after the real call. proven: a plain load may read the vector (program_memory.h). 0: it cannot be
// read.
uint64_t io_vector_bytes(const struct iovec *vector, int count, bool proven);

// watch: memory_watch() before the call.
INLINE void end_vector_call(struct pending_call *call, const struct iovec *vector, int count, uint64_t watch,
                            int64_t result) {
  compiler_barrier();
  if (unlikely(!call->start)) return;
  uint64_t end = now_ticks();
  bool proven = success_is_proof(result) && call_was_quiet(watch, end - call->start);
  call->requested = io_vector_bytes(vector, count, proven);
  put_call(call, end, result == -1 ? -(int64_t)errno : result, 0);
}

#pragma GCC visibility pop
