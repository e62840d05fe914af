// SPDX-License-Identifier: Apache-2.0
#include "preload/message_call.h"

#include <string.h>

#include "preload/io_vector.h"

static uint64_t bytes_of(const struct msghdr *message, int64_t result) {
  return result >= 0 ? io_vector_bytes(message->msg_iov, (int)message->msg_iovlen, result) : 0;
}

// Descriptors that came with the message: what the table says of their numbers is of others.
static void forget_passed_descriptors(struct msghdr *message) {
  for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS || part->cmsg_len < CMSG_LEN(0)) continue;
    size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; i++) {
      int fd;
      memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      fd_set_open_file(fd, 0);
    }
  }
}

void end_message_call(struct pending_call *call, const struct msghdr *message, int64_t result) {
  if (call->start) call->requested = bytes_of(message, result);
  end_call(call, result);
}

void end_received_message(struct pending_call *call, struct msghdr *message, int64_t result) {
  if (result >= 0 && message->msg_controllen) forget_passed_descriptors(message);
  end_message_call(call, message, result);
}

void end_messages_call(struct pending_call *call, const struct mmsghdr *messages, int count) {
  int64_t bytes = 0;
  for (int i = 0; call->start && i < count; i++) {
    bytes += messages[i].msg_len;
    call->requested += bytes_of(&messages[i].msg_hdr, 0);
  }
  if (count > 0) call->arg2 |= (uint64_t)(uint32_t)count << 32;
  end_call(call, count < 0 ? -1 : bytes);
}

void end_received_messages(struct pending_call *call, struct mmsghdr *messages, int count) {
  for (int i = 0; i < count; i++)
    if (messages[i].msg_hdr.msg_controllen) forget_passed_descriptors(&messages[i].msg_hdr);
  end_messages_call(call, messages, count);
}
