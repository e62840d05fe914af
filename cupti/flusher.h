// SPDX-License-Identifier: Apache-2.0
// The one thread of ours: it asks CUPTI about once a second for what is finished, and at the end of the process for
// everything. CUPTI is asked by it alone, so a thread that ends the process inside CUDA, or in a signal handler, waits
// for a word and never for a lock.
#pragma once

#include <stdbool.h>

#pragma GCC visibility push(hidden)

// Requires: CUPTI runs. False: there can be no thread.
bool start_flusher(void);

#pragma GCC visibility pop
