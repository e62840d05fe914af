// SPDX-License-Identifier: Apache-2.0
// Names given to threads while they are traced; the collector reads the first name.
#pragma once

#include <stdint.h>

#pragma GCC visibility push(hidden)

void put_thread_name(uint32_t tid, const char *name);

uint32_t thread_of_caller(void);

#pragma GCC visibility pop
