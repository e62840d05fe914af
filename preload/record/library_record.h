// SPDX-License-Identifier: Apache-2.0
// Records where the process's libraries are mapped, by the dynamic linker's list. The collector only samples /proc: a
// library that is loaded, or a process that ends, between two samples would be missed, and allocations there would have
// no library.
#pragma once

#include <stdint.h>

#pragma GCC visibility push(hidden)

// Number of calls of dlclose that have returned.
extern uint32_t closed_libraries;

// Defines the loaded libraries that were not defined yet, each once per load address. A forked child defines those that
// it loaded itself; it inherits the others from its parent. Called at the end of the image and before a library is
// unloaded. No effect without recorded allocations: then no library name is needed. Requires: system calls are allowed.
void libraries_write(void);

// In a forked child.
void libraries_after_fork(void);

#pragma GCC visibility pop
