// SPDX-License-Identifier: Apache-2.0
// How children ended, from the results of their parent's waits: MLRUN_CHILD_END. A child that ends by a raw system
// call, or is killed, writes no end record itself.
#pragma once

#include <signal.h>
#include <stdint.h>

#include "preload/base/compiler.h"

#pragma GCC visibility push(hidden)

// After a wait that returned `pid` (0 and less: none); `status` as the kernel wrote it.
void put_child_end(int64_t pid, const int *status);

// The same for waitid, which returned `result`.
void put_child_end_info(int64_t result, const siginfo_t *child);

#pragma GCC visibility pop
