// SPDX-License-Identifier: Apache-2.0
// Whether the program has installed a seccomp filter, which may forbid mbind or kill the process for it.
#pragma once

#include "preload/base/compiler.h"

#pragma GCC visibility push(hidden)

extern _Bool confined;

INLINE _Bool is_confined(void) { return __atomic_load_n(&confined, __ATOMIC_RELAXED); }

#pragma GCC visibility pop
