// SPDX-License-Identifier: Apache-2.0
// System calls made by number: which of them are recorded, and the code that records them.
#pragma once

#include <stdbool.h>

#include "preload/base/compiler.h"
#include "preload/calls/ring_watch.h"

#pragma GCC visibility push(hidden)

enum { kRawNumbers = 512 };
extern const bool raw_call_is_known[kRawNumbers];

// Makes the call by `real` and records it as the function of that name. Requires: raw_call_is_known[number].
long traced_raw_call(syscall_function real, long number, long a, long b, long c, long d, long e, long f);

#pragma GCC visibility pop
