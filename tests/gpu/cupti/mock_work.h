// SPDX-License-Identifier: Apache-2.0
// What the parts of the mock libcupti share. It exports none of it: a program may have functions of these names.
#pragma once

#include <stdint.h>

#include "cupti/cupti_abi.h"
#include "mock_cupti.h"

enum { kBufferFlush = 1 << 16, kCommandBufferFull = CUPTI_OVERHEAD_COMMAND_BUFFER_FULL };  // kinds of its own work

#pragma GCC visibility push(hidden)

// Of MOCK_CUPTI_... in the environment; "": not there.
const char *setting(const char *name);
uint64_t now(void);

// Whether a kind of record is switched on.
int is_on(uint32_t kind);

// The functions below require the lock of mock_cupti.c.

// All records of the work, and of the calls that start it.
void add_records(const struct mock_work *work);

// A zeroed record of this kind; NULL: the kind is off, or there is no buffer for it.
void *add_work(uint32_t kind);
// Records a call of the runtime, the driver's call inside it, or that alone. Returns the correlation id of the work.
uint32_t add_calls(const struct mock_work *work, uint32_t runtime, uint32_t driver);
// A record of its own work of this kind, with MOCK_CUPTI_OVERHEAD.
void add_overhead(uint32_t kind);
// A record that it cannot read itself, once, with MOCK_CUPTI_UNKNOWN.
void add_unknown(void);

#pragma GCC visibility pop
