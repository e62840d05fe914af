// SPDX-License-Identifier: Apache-2.0
// mlockall: locks the program's memory, but not the mappings of the recorder.
#pragma once

#pragma GCC visibility push(hidden)

// Like mlockall(flags), whose libc function is `real`, which would allocate the arena and our tables as a whole and
// count them towards the limit of locked memory. Result and errno are as without us.
int lock_all_but_ours(int flags, int (*real)(int));

#pragma GCC visibility pop
