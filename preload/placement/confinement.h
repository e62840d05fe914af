// SPDX-License-Identifier: Apache-2.0
// Whether the program has installed a seccomp filter, which may forbid mbind or kill the process for it.
#pragma once

#include <stdint.h>

#include "preload/base/compiler.h"

#pragma GCC visibility push(hidden)

extern uint32_t confinements;  // filters that were installed, or are being installed

INLINE _Bool is_confined(void) { return __atomic_load_n(&confinements, __ATOMIC_RELAXED) != 0; }

#pragma GCC visibility pop
