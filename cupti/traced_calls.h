// SPDX-License-Identifier: Apache-2.0
// Which calls of CUDA are recorded. They are chosen by name, because CUPTI's function numbers differ between versions.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Chooses the CUDA calls to record: all of the runtime API except frequent ones without effect, and those of the driver
// API that start work on the GPU or allocate, because some programs (Triton) make these without the runtime. Requires:
// the kind CUPTI_RUNTIME is on.
void choose_traced_calls(void);

// Undoes choose_traced_calls. `driver_is_kept`: leaves the driver's calls on, because the other tool has them all on.
void leave_traced_calls(bool driver_is_kept);

bool is_traced_call(uint32_t domain, uint32_t function);

// The function's name without the runtime's version suffix; null: CUPTI does not know it.
const char *traced_call_name(uint32_t domain, uint32_t function, size_t *bytes);

#pragma GCC visibility pop
