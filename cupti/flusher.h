// SPDX-License-Identifier: Apache-2.0
// The only thread that this library creates. About once a second it makes CUPTI return the finished records, and at the
// end of the process all records (a flush). No other thread flushes for us, except that of another tool which takes
// CUPTI (other_clients.h). So a thread that ends the process inside CUDA, or in a signal handler, only waits on a futex,
// with a timeout, and never for a lock of CUPTI.
#pragma once

#include <stdbool.h>

#pragma GCC visibility push(hidden)

// Requires: the session is kRunning. False: the thread could not be created.
bool start_flusher(void);

#pragma GCC visibility pop
