// SPDX-License-Identifier: Apache-2.0
#include "preload/core/alloc_state.h"

#include "preload/base/compiler.h"
#include "runner/events/alloc_class.h"

HOT uint64_t quick_limit_bytes = MLRUN_FINE_LIMIT_BYTES;
HOT bool records_vary = true;
bool allocs_listed;

void alloc_state_after_fork(void) {
  quick_limit_bytes = 0;
  allocs_listed = false;
  records_vary = true;
}
