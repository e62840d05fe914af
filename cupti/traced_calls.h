// SPDX-License-Identifier: Apache-2.0
// Which calls of CUDA are recorded, by name: CUPTI's numbers differ between versions.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Runtime: all calls except frequent ones without effect. Driver: calls that start work on the GPU or allocate, which
// programs make without the runtime (Triton). Requires: the runtime's calls are enabled.
void choose_traced_calls(void);

// Switches the driver's calls off; `driver_is_kept`: the program's own tool has all of them on.
void leave_traced_calls(bool driver_is_kept);

bool is_traced_call(uint32_t domain, uint32_t function);

// The function's name without the runtime's version suffix; null: CUPTI does not know it.
const char *traced_call_name(uint32_t domain, uint32_t function, size_t *bytes);

#pragma GCC visibility pop
