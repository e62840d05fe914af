// SPDX-License-Identifier: Apache-2.0
// Records of calls that make threads and processes: without a descriptor (arg -1), with a result and a duration.
#pragma once

#include "preload/core/recorder.h"

#pragma GCC visibility push(hidden)

// start: the call's stamp(), 0: not recorded. result: pid, 0, or -errno.
void put_process_call(enum call_kind kind, uint64_t start, int64_t result);

#pragma GCC visibility pop
