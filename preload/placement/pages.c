// SPDX-License-Identifier: Apache-2.0
#include "preload/placement/pages.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <time.h>

#include "preload/base/real_function.h"
#include "preload/placement/window.h"

enum { kDontNeedLocked = 24 };  // MADV_DONTNEED_LOCKED, since Linux 5.18

extern void *__libc_stack_end __attribute__((weak));  // of ld.so, which this library is not linked with

static bool failed(long result) { return result < 0 && result >= -4095; }

void *pages_map(void *at, size_t bytes) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : 0);
  long got = raw_syscall(SYS_mmap, (long)at, (long)bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (failed(got)) return NULL;
  if (!at || (void *)got == at) return (void *)got;
  pages_unmap((void *)got, bytes);  // before Linux 4.17 the address is a hint
  return NULL;
}

int pages_hold(void *at, size_t bytes) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  long got = raw_syscall(SYS_mmap, (long)at, (long)bytes, PROT_NONE, flags, -1, 0);
  if (failed(got)) return (int)-got;
  if ((void *)got == at) return 0;
  pages_unmap((void *)got, bytes);  // before Linux 4.17 the address is a hint
  return EEXIST;
}

void pages_unmap(void *at, size_t bytes) {
  LIBC(int, munmap, void *, size_t);
  int error = errno;
  libc_munmap(at, bytes);
  errno = error;
}

void pages_unmap_in_child(void *at, size_t bytes) { raw_syscall2(SYS_munmap, (long)at, (long)bytes); }

bool pages_release(void *at, size_t bytes, int advice) {
  LIBC(int, madvise, void *, size_t, int);
  int error = errno;
  bool done = libc_madvise(at, bytes, advice) == 0;
  errno = error;
  return done;
}

bool pages_give_back(void *at, size_t bytes) {
  return pages_release(at, bytes, MADV_DONTNEED) || pages_release(at, bytes, kDontNeedLocked);
}

bool pages_resize(void *at, size_t bytes, size_t wanted) {
  return !failed(raw_syscall4(SYS_mremap, (long)at, (long)bytes, (long)wanted, 0));
}

// The kernel is asked to grow the bytes up to the main thread's stack, which cannot be: EFAULT, if they are more than one mapping or none; else
// another error.
bool pages_are_one_mapping(const void *at, size_t bytes) {
  if (!&__libc_stack_end) return false;
  uintptr_t from = (uintptr_t)at, stack = (uintptr_t)__libc_stack_end / kPageBytes * kPageBytes;
  if (from + bytes > stack) return false;
  return raw_syscall4(SYS_mremap, (long)at, (long)bytes, (long)(stack + kPageBytes - from), 0) != -EFAULT;
}

static bool move(void *at, size_t bytes, void *to, int flags) {
  flags |= MREMAP_MAYMOVE | MREMAP_FIXED;
  return !failed(raw_syscall(SYS_mremap, (long)at, (long)bytes, (long)bytes, flags, (long)to, 0));
}

bool pages_move(void *at, size_t bytes, void *to) { return move(at, bytes, to, MREMAP_DONTUNMAP); }

bool pages_move_back(void *at, size_t bytes, void *to) { return move(at, bytes, to, 0); }

void futex_wait(uint32_t *word, uint32_t while_equal) {
  raw_syscall4(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, while_equal, 0);
}

void futex_wait_for(uint32_t *word, uint32_t while_equal, long ns) {
  struct timespec time = {0, ns};
  raw_syscall4(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, while_equal, (long)&time);
}

void futex_wake_one(uint32_t *word) { raw_syscall3(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, 1); }
