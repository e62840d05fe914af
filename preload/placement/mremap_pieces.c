// SPDX-License-Identifier: Apache-2.0
// Only system calls that the program makes anyway are used (mremap, mmap, munmap): a seccomp filter may forbid others.
#include "preload/placement/mremap_pieces.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include "preload/placement/pages.h"
#include "preload/placement/window.h"

extern void *__libc_stack_end __attribute__((weak));  // of ld.so, which this library is not linked with

static long remap(char *at, size_t old, size_t bytes, int flags, char *to) {
  return raw_syscall(SYS_mremap, (long)at, (long)old, (long)bytes, flags, (long)to, 0);
}

static void *refused(long error) {
  errno = (int)-error;
  return MAP_FAILED;
}

// Whether one mapping has all these pages. The kernel is asked to grow them up to the main thread's stack, which cannot be: EFAULT, if they are more
// than one mapping or none; else another error.
static bool is_one(char *at, size_t bytes) {
  if (!&__libc_stack_end) return false;
  uintptr_t stack = (uintptr_t)__libc_stack_end / kPageBytes * kPageBytes;
  if ((uintptr_t)at + bytes > stack) return false;
  return remap(at, bytes, stack + kPageBytes - (uintptr_t)at, 0, NULL) != -EFAULT;
}

// Bytes of the first piece of `most` bytes at `at`. 0: nothing is mapped there.
static size_t first_piece(char *at, size_t most) {
  if (is_one(at, most)) return most;
  size_t fits = 0, too_many = most / kPageBytes;
  while (too_many - fits > 1) {
    size_t pages = fits + (too_many - fits) / 2;
    *(is_one(at, pages * kPageBytes) ? &fits : &too_many) = pages;
  }
  return fits * kPageBytes;
}

// Where the last piece begins. Null: not everything is mapped.
static char *last_piece(char *at, const char *end) {
  for (size_t bytes; (bytes = first_piece(at, (size_t)(end - at))); at += bytes)
    if (at + bytes == end) return at;
  return NULL;
}

// Moves the pieces of [to, end) back to [at, ...), which are still mapped.
static void move_back(char *at, char *to, const char *end) {
  for (size_t bytes; to < end && (bytes = first_piece(to, (size_t)(end - to))); at += bytes, to += bytes)
    remap(to, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at);
}

// Moves the pieces of [at, end) to `to`. False: none has moved.
static bool move_pieces(char *at, const char *end, char *to) {
  size_t moved = 0, all = (size_t)(end - at);
  while (moved < all) {
    size_t bytes = first_piece(at + moved, all - moved);
    if (!bytes || !pages_move(at + moved, bytes, to + moved)) break;
    moved += bytes;
  }
  if (moved < all) move_back(at, to, to + moved);
  return moved == all;
}

// Holds the addresses that the mapping shall have.
static char *hold(char *wanted, size_t bytes, int flags) {
  int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (flags & MREMAP_FIXED ? MAP_FIXED : 0);
  long got = raw_syscall(SYS_mmap, flags & MREMAP_FIXED ? (long)wanted : 0, (long)bytes, PROT_NONE, how, -1, 0);
  return got < 0 && got >= -4095 ? NULL : (char *)got;
}

// On failure what is held stays so, because parts of it may already have become another thread's.
static void *moved(char *at, char *last, size_t old, size_t bytes, int flags, char *wanted) {
  size_t before = (size_t)(last - at);
  char *to = hold(wanted, bytes, flags);
  if (!to || !move_pieces(at, last, to)) return refused(-ENOMEM);
  int how = MREMAP_MAYMOVE | MREMAP_FIXED | (flags & MREMAP_DONTUNMAP);
  long got = remap(last, old - before, bytes - before, how, to + before);
  if (got != (long)(to + before)) {
    move_back(at, to, to + before);
    return refused(got);
  }
  if (!(flags & MREMAP_DONTUNMAP) && before) pages_unmap(at, before);
  return to;
}

static size_t whole_pages(size_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes; }

void *mremap_pieces(char *at, size_t old, size_t bytes, int flags, char *wanted) {
  old = whole_pages(old);
  bytes = whole_pages(bytes);
  // The kernel has unmapped the end of a mapping that becomes smaller, and has refused the move.
  char *last = old && bytes >= old ? last_piece(at, at + old) : NULL;
  if (!last) return refused(-EFAULT);
  if (!(flags & MREMAP_FIXED) && bytes > old) {
    long got = remap(last, (size_t)(at + old - last), (size_t)(at + bytes - last), 0, NULL);
    if (got == (long)last) return at;
    if (got != -ENOMEM || !(flags & MREMAP_MAYMOVE)) return refused(got);
  }
  return moved(at, last, old, bytes, flags, wanted);
}
