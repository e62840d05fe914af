// SPDX-License-Identifier: Apache-2.0
// Calls that connect sockets. The call's record is followed by one with the addresses of both ends (MLRUN_SOCKET), by
// which the merger finds the other end if it is in the trace too. This takes two system calls, for an accepted AF_UNIX
// socket three; none of them changes anything.
#pragma once

#include <stddef.h>

#include "preload/calls/traced_call.h"

#pragma GCC visibility push(hidden)

// result: the new descriptor, -1 on failure. It is identified at once.
void end_accept(struct pending_call *call, int result);

// address: as the program passed it; it is recorded while the connection is not established yet. result: 0, -1 on
// failure.
void end_connect(struct pending_call *call, const void *address, size_t bytes, int result);

#pragma GCC visibility pop
