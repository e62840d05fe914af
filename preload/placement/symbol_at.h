// SPDX-License-Identifier: Apache-2.0
// The exported functions that contain an address, by their library's table of dynamic symbols. One function can have several names: getdelim is
// __getdelim too, and a constructor of C++ is often both C1 and C2.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Whether a name of the function at the address matches the shell pattern. Names are the linker's: mangled ones in C++. dynamic, bias: of the library, as
// the dynamic linker has them.
bool any_symbol_matches(const void *dynamic, uint64_t bias, uint64_t address, const char *pattern);

#pragma GCC visibility pop
