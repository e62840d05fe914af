// SPDX-License-Identifier: Apache-2.0
// Ends of calls that make descriptors, dup and fcntl included: they update the descriptor table (fd_table.h).
#pragma once

#include <fcntl.h>
#include <stdint.h>

#include "preload/calls/traced_call.h"

#pragma GCC visibility push(hidden)

// From linux/close_range.h, which older systems lack.
#define CLOSE_RANGE_UNSHARE_FLAG 2u
#define CLOSE_RANGE_CLOEXEC_FLAG 4u

// result: the new descriptor, -1 on failure. It is identified at once, because such descriptors have no path that could
// identify them later.
void end_making_call(struct pending_call *call, int result);

// Two unused descriptors; they are identified at their first use. result: 0, -1 on failure.
void end_pairing_call(struct pending_call *call, const int fds[2], uint32_t flags, int result);

// The same, with the two descriptors in the program's memory. watch: memory_watch() before the call.
void end_program_pair(struct pending_call *call, const int *fds, uint64_t watch, uint32_t flags, int result);

// The same, and both are identified at once: they are two files, and only this call shows that they belong together.
void end_socket_pair(struct pending_call *call, const int *fds, uint64_t watch, uint32_t flags, int result);

// Both descriptors of a dup refer to one open file. The call was begun on the old one; its record names the new one,
// `fresh` if the call failed.
void end_duplicating_call(struct pending_call *call, int fresh, int result);

// The argument of an fcntl command that takes a number; 0 for commands without an argument or with a pointer.
uint64_t fcntl_number(int command, const void *argument);
void end_fcntl(struct pending_call *call, int command, int result);

#pragma GCC visibility pop
