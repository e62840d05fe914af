// SPDX-License-Identifier: Apache-2.0
// The conditions under which the calls of a batch are made: stack, filter, memory.
#pragma once

#include "tests/preload/fuzz/dice.h"

enum mode { kPlain, kSmallStack, kSignalStack, kFiltered, kUnmapped, kModes };

// Calls `work(argument)` under the mode, to its end.
void run_in(enum mode mode, struct dice *d, void (*work)(void *), void *argument);
