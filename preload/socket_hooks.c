// SPDX-License-Identifier: Apache-2.0
// Messages over sockets. Their headers and vectors are looked at after the call, where the kernel has read them; a
// message may carry descriptors, which are new in this process.
#include <string.h>
#include <sys/socket.h>

#include "preload/capture.h"
#include "preload/io_vector.h"
#include "preload/real_function.h"

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

#define MESSAGE_CALL(kind_, flags)                                                      \
  struct pending_call call CALL_CLEANUP = {                                             \
      .kind = (kind_), .fd = fd, .offset = MLRUN_NO_OFFSET, .arg2 = (uint32_t)(flags)}; \
  begin_call(&call)

EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  REAL(ssize_t, sendmsg, int, const struct msghdr *, int);
  MESSAGE_CALL(KIND_sendmsg, flags);
  ssize_t result = real(fd, message, flags);
  if (call.start) call.requested = bytes_of(message, result);
  end_call(&call, result);
  return result;
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
  REAL(ssize_t, recvmsg, int, struct msghdr *, int);
  MESSAGE_CALL(KIND_recvmsg, flags);
  ssize_t result = real(fd, message, flags);
  if (result >= 0 && message->msg_controllen) forget_passed_descriptors(message);
  if (call.start) call.requested = bytes_of(message, result);
  end_call(&call, result);
  return result;
}

// Result of the record: the bytes of all messages that went through.
static void end_messages(struct pending_call *call, const struct mmsghdr *messages, int count) {
  int64_t bytes = 0;
  for (int i = 0; call->start && i < count; i++) {
    bytes += messages[i].msg_len;
    call->requested += bytes_of(&messages[i].msg_hdr, 0);
  }
  if (count > 0) call->arg2 |= (uint64_t)(uint32_t)count << 32;
  end_call(call, count < 0 ? -1 : bytes);
}

EXPORT int sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags) {
  REAL(int, sendmmsg, int, struct mmsghdr *, unsigned, int);
  MESSAGE_CALL(KIND_sendmmsg, flags);
  int result = real(fd, messages, count, flags);
  end_messages(&call, messages, result);
  return result;
}

EXPORT int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout) {
  REAL(int, recvmmsg, int, struct mmsghdr *, unsigned, int, struct timespec *);
  MESSAGE_CALL(KIND_recvmmsg, flags);
  int result = real(fd, messages, count, flags, timeout);
  for (int i = 0; i < result; i++)
    if (messages[i].msg_hdr.msg_controllen) forget_passed_descriptors(&messages[i].msg_hdr);
  end_messages(&call, messages, result);
  return result;
}
