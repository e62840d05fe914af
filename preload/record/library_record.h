// SPDX-License-Identifier: Apache-2.0
// Where the process's libraries lie, as it knows itself. The collector looks at /proc from time to time: what ends, or loads
// a library, between two looks would have allocations of nobody's.
#pragma once

#pragma GCC visibility push(hidden)

// Defines the libraries that are loaded and were not defined so, each once as long as it lies where it lies. A forked child
// defines those that it loaded itself; the others are its parent's. For the end of the image and before a library goes.
// Without recorded allocations there is nothing that a library's name would be needed for, and nothing is done. Requires:
// system calls are allowed.
void libraries_write(void);

// In a forked child.
void libraries_after_fork(void);

#pragma GCC visibility pop
