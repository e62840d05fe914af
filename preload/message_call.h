// SPDX-License-Identifier: Apache-2.0
// Ends of calls that send and receive messages over sockets. Headers and vectors are looked at after the call, where the
// kernel has read them; a message that was received may have brought descriptors, which are new in this process.
#pragma once

#include <stdint.h>
#include <sys/socket.h>

#include "preload/traced_call.h"

// Of <sys/socket.h>, which has it for GNU sources only.
struct mmsghdr;

#pragma GCC visibility push(hidden)

// result: bytes, -1 on failure.
void end_message_call(struct pending_call *call, const struct msghdr *message, int64_t result);
void end_received_message(struct pending_call *call, struct msghdr *message, int64_t result);

// count: messages, -1 on failure. The record's result is the bytes of all that went through.
void end_messages_call(struct pending_call *call, const struct mmsghdr *messages, int count);
void end_received_messages(struct pending_call *call, struct mmsghdr *messages, int count);

#pragma GCC visibility pop
