// SPDX-License-Identifier: Apache-2.0
// Ends of calls that send and receive messages over sockets. Headers and vectors are read after the call, as
// program_memory.h allows; a received message may have brought descriptors, which are new in this process.
#pragma once

#include <stdint.h>
#include <sys/socket.h>

#include "preload/calls/traced_call.h"

// Defined by <sys/socket.h>, for GNU sources only.
struct mmsghdr;

#pragma GCC visibility push(hidden)

// watch: memory_watch() before the call. result: bytes, -1 on failure.
void end_message_call(struct pending_call *call, const struct msghdr *message, uint64_t watch, int64_t result);
void end_received_message(struct pending_call *call, const struct msghdr *message, uint64_t watch, int64_t result);

// count: messages, -1 on failure. The record's result is the bytes of all transferred messages.
void end_messages_call(struct pending_call *call, const struct mmsghdr *messages, uint64_t watch, int count);
void end_received_messages(struct pending_call *call, const struct mmsghdr *messages, uint64_t watch, int count);

#pragma GCC visibility pop
