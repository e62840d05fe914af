// SPDX-License-Identifier: Apache-2.0
// The live blocks that were sampled, so that their free is known for one. A set of addresses in private memory: a forked
// child inherits it, as it inherits the blocks.
#pragma once

#include <stdbool.h>

#pragma GCC visibility push(hidden)

// False: there is no room; the block's end will not be seen. Any thread, any signal handler.
bool sampled_blocks_add(const void *block);

// True: it was there.
bool sampled_blocks_remove(const void *block);

#pragma GCC visibility pop
