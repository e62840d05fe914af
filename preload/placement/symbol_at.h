// SPDX-License-Identifier: Apache-2.0
// The exported function that contains an address, by its library's table of dynamic symbols.
#pragma once

#include <stdint.h>

#pragma GCC visibility push(hidden)

// dynamic, bias: of the library, as the dynamic linker has them. Null: no exported function has the address.
const char *symbol_at(const void *dynamic, uint64_t bias, uint64_t address);

#pragma GCC visibility pop
