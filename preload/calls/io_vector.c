// SPDX-License-Identifier: Apache-2.0
#include "preload/calls/io_vector.h"

#include <limits.h>

enum { kCopiedAtOnce = 16 };

static uint64_t sum(const struct iovec *vector, int count) {
  uint64_t bytes = 0;
  for (int i = 0; i < count; i++) bytes += vector[i].iov_len;
  return bytes;
}

uint64_t io_vector_bytes(const struct iovec *vector, int count, bool proven) {
  if (count < 0 || count > IOV_MAX) return 0;
  if (likely(proven)) return sum(vector, count);
  uint64_t bytes = 0;
  for (int done = 0; done < count; done += kCopiedAtOnce) {
    struct iovec copy[kCopiedAtOnce];
    int part = count - done < kCopiedAtOnce ? count - done : kCopiedAtOnce;
    size_t room = (size_t)part * sizeof copy[0];
    if (copy_from_program(copy, vector + done, room) != room) return 0;
    bytes += sum(copy, part);
  }
  return bytes;
}
