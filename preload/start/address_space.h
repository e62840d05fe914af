// SPDX-License-Identifier: Apache-2.0
// How much of the program's address space recording takes: little if it is limited, from the start or while the program
// runs.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

// Bytes of the arena that may be mapped at load: all, or under a limit the lowest part; *limited says which.
size_t mappable_bytes(size_t bytes, bool *limited);

// The program limits its address space to `limit` bytes: unmaps the excess of the arena. Segments that this process
// owns stay mapped, so that no thread is disturbed. No effect in a vfork child or once the program has confined itself.
void fit_address_space(size_t limit);

#pragma GCC visibility pop
