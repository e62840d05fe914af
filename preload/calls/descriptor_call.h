// SPDX-License-Identifier: Apache-2.0
// Ends of calls that make descriptors, or descriptors out of descriptors: the table of open files follows them.
#pragma once

#include <fcntl.h>
#include <stdint.h>

#include "preload/calls/traced_call.h"

#pragma GCC visibility push(hidden)

// Of linux/close_range.h, which older headers lack
#define CLOSE_RANGE_UNSHARE_FLAG 2u
#define CLOSE_RANGE_CLOEXEC_FLAG 4u

// result: the new descriptor, -1 on failure. It is identified at once, because such descriptors have no path that could
// tell what they are later.
void end_making_call(struct pending_call *call, int result);

// Two descriptors that nobody has used yet; they are identified at their first use. result: 0, -1 on failure.
void end_pairing_call(struct pending_call *call, const int fds[2], uint32_t flags, int result);

// The same where the program has them. watch: memory_watch() before the call.
void end_program_pair(struct pending_call *call, const int *fds, uint64_t watch, uint32_t flags, int result);

// Both descriptors of a dup name one open file. The call was begun on the old one; its record names the new one, `fresh`
// where the call failed.
void end_duplicating_call(struct pending_call *call, int fresh, int result);

// The argument as far as it is a number: some commands have none, some a pointer.
uint64_t fcntl_number(int command, const void *argument);
void end_fcntl(struct pending_call *call, int command, int result);

#pragma GCC visibility pop
