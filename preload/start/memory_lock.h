// SPDX-License-Identifier: Apache-2.0
// mlockall: locks the program's memory, but not the mappings of the recorder.
#pragma once

#pragma GCC visibility push(hidden)

// Like mlockall(flags). `real`: libc's mlockall, which alone would fill the whole arena and our tables with memory and
// count them towards the program's limit of locked memory. Result and errno are as without this library.
int lock_all_but_ours(int flags, int (*real)(int));

#pragma GCC visibility pop
