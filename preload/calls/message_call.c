// SPDX-License-Identifier: Apache-2.0
#include "preload/calls/message_call.h"

#include <string.h>

#include "preload/base/scratch.h"
#include "preload/calls/io_vector.h"
#include "preload/core/program_memory.h"

static uint64_t bytes_of(const struct msghdr *message, bool proven) {
  size_t count = message->msg_iovlen;
  return io_vector_bytes(message->msg_iov, count < INT32_MAX ? (int)count : -1, proven);
}

static void forget_descriptors_of(const char *data, size_t bytes) {
  for (size_t at = 0; at + sizeof(int) <= bytes; at += sizeof(int)) {
    int fd;
    memcpy(&fd, data + at, sizeof fd);
    fd_set_open_file(fd, 0);
  }
}

// Clears the descriptor table's entries of descriptors that came with the message. Reads a copy of the control messages,
// because another thread may change their lengths meanwhile; the copy's end bounds them.
static void forget_passed_descriptors(const struct msghdr *received, bool proven) {
  struct msghdr message = *received;
  char *page = message.msg_controllen ? scratch_take() : NULL;
  if (!page) return;
  if (message.msg_controllen > kScratchBytes) message.msg_controllen = kScratchBytes;
  if (!read_from_program(page, message.msg_control, message.msg_controllen, proven)) message.msg_controllen = 0;
  message.msg_control = page;
  const char *end = page + message.msg_controllen;
  for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_len < CMSG_LEN(0)) break;
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const char *data = (const char *)CMSG_DATA(part);
    size_t bytes = part->cmsg_len - CMSG_LEN(0), rest = (size_t)(end - data);
    forget_descriptors_of(data, bytes < rest ? bytes : rest);
  }
  scratch_give(page);
}

static bool is_proven(const struct pending_call *call, uint64_t watch, int64_t result) {
  return success_is_proof(result) && call_was_quiet(watch, call->start ? now_ticks() - call->start : 0);
}

void end_message_call(struct pending_call *call, const struct msghdr *message, uint64_t watch, int64_t result) {
  bool proven = is_proven(call, watch, result);
  struct msghdr header;
  if (call->start && result >= 0 && read_from_program(&header, message, sizeof header, proven))
    call->requested = bytes_of(&header, proven);
  end_call(call, result);
}

void end_received_message(struct pending_call *call, const struct msghdr *message, uint64_t watch, int64_t result) {
  bool proven = is_proven(call, watch, result);
  struct msghdr header;
  if (result >= 0 && read_from_program(&header, message, sizeof header, proven)) {
    forget_passed_descriptors(&header, proven);
    if (call->start) call->requested = bytes_of(&header, proven);
  }
  end_call(call, result);
}

static void end_many(struct pending_call *call, const struct mmsghdr *messages, uint64_t watch, int count,
                     bool received) {
  bool proven = is_proven(call, watch, count);
  int64_t bytes = 0;
  struct mmsghdr one;
  for (int i = 0; i < count; i++) {
    if (!read_from_program(&one, &messages[i], sizeof one, proven)) break;
    if (received) forget_passed_descriptors(&one.msg_hdr, proven);
    if (!call->start) continue;
    bytes += one.msg_len;
    call->requested += bytes_of(&one.msg_hdr, proven);
  }
  if (count > 0) call->arg2 |= (uint64_t)(uint32_t)count << 32;
  end_call(call, count < 0 ? -1 : bytes);
}

void end_messages_call(struct pending_call *call, const struct mmsghdr *messages, uint64_t watch, int count) {
  end_many(call, messages, watch, count, false);
}

void end_received_messages(struct pending_call *call, const struct mmsghdr *messages, uint64_t watch, int count) {
  end_many(call, messages, watch, count, true);
}
