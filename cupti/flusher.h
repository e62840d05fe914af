// SPDX-License-Identifier: Apache-2.0
// Our only thread: it asks CUPTI about once a second for finished records, and at the end of the process for
// everything. No other thread asks CUPTI, so a thread that ends the process inside CUDA, or in a signal handler, waits
// for a word and never for a lock.
#pragma once

#include <stdbool.h>

#pragma GCC visibility push(hidden)

// Requires: CUPTI runs. False: the thread could not be created.
bool start_flusher(void);

#pragma GCC visibility pop
