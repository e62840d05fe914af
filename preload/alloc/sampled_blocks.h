// SPDX-License-Identifier: Apache-2.0
// The live sampled blocks, so that their frees are recognised. A set of addresses in private memory: a forked child
// inherits it, as it inherits the blocks.
#pragma once

#include <stdbool.h>

#pragma GCC visibility push(hidden)

// False: the set is full; the block's end will not be seen. Any thread, any signal handler.
bool sampled_blocks_add(const void *block);

// True: it was in the set.
bool sampled_blocks_remove(const void *block);

#pragma GCC visibility pop
