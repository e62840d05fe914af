// SPDX-License-Identifier: Apache-2.0
#include "preload/io_vector.h"

#include <limits.h>

#include "preload/raw_syscall.h"
#include "preload/recorder.h"

enum { kCopiedAtOnce = 16 };

static uint64_t sum(const struct iovec *vector, int count) {
  uint64_t bytes = 0;
  for (int i = 0; i < count; i++) bytes += vector[i].iov_len;
  return bytes;
}

uint64_t io_vector_bytes(const struct iovec *vector, int count, int64_t result) {
  if (result >= 0) return sum(vector, count);
  if (count < 0 || count > IOV_MAX || !recording_system_calls_allowed()) return 0;
  long pid = raw_syscall0(SYS_getpid);
  uint64_t bytes = 0;
  for (int done = 0; done < count; done += kCopiedAtOnce) {
    struct iovec copy[kCopiedAtOnce];
    int part = count - done < kCopiedAtOnce ? count - done : kCopiedAtOnce;
    struct iovec to = {copy, (size_t)part * sizeof copy[0]};
    struct iovec from = {(void *)(uintptr_t)(vector + done), to.iov_len};
    if (raw_syscall(SYS_process_vm_readv, pid, (long)&to, 1, (long)&from, 1, 0) != (long)to.iov_len) return 0;
    bytes += sum(copy, part);
  }
  return bytes;
}
