// SPDX-License-Identifier: Apache-2.0
// mlockall: locks the program's memory, and not what recording has mapped beside it.
#pragma once

#pragma GCC visibility push(hidden)

// As mlockall(flags), whose function of libc is `real`. The arena and our tables would be allocated as a whole by it, and count
// towards the limit of locked memory. Result and errno as the program would have them without us.
int lock_all_but_ours(int flags, int (*real)(int));

#pragma GCC visibility pop
