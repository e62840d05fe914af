// SPDX-License-Identifier: Apache-2.0
// How children ended, as the waits of their parent return it: MLRUN_CHILD_END. A child that leaves by a system call of its own,
// or is killed, writes no record of its end.
#pragma once

#include <signal.h>
#include <stdint.h>

#include "preload/base/compiler.h"

#pragma GCC visibility push(hidden)

// After a wait that returned `pid` (0 and less: none); where the kernel has put the status.
void put_child_end(int64_t pid, const int *status);

// The same of waitid, which returned `result`.
void put_child_end_info(int64_t result, const siginfo_t *child);

#pragma GCC visibility pop
