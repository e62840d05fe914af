// SPDX-License-Identifier: Apache-2.0
// Only system calls that the program makes anyway are used (mremap, mmap, munmap): a seccomp filter may forbid others.
#include "preload/placement/mremap_pieces.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include "preload/placement/pages.h"
#include "preload/placement/window.h"

enum { kAddressBits = 47 };

bool kernel_moves_several;

static long remap(char *at, size_t old, size_t bytes, int flags, char *to) {
  return raw_syscall(SYS_mremap, (long)at, (long)old, (long)bytes, flags, (long)to, 0);
}

static void *refused(long error) {
  errno = (int)-error;
  return MAP_FAILED;
}

// Bytes of the first piece of `most` bytes at `at`. 0: nothing is mapped there.
static size_t first_piece(char *at, size_t most) {
  if (pages_are_one_mapping(at, most)) return most;
  size_t fits = 0, too_many = most / kPageBytes;
  while (too_many - fits > 1) {
    size_t pages = fits + (too_many - fits) / 2;
    *(pages_are_one_mapping(at, pages * kPageBytes) ? &fits : &too_many) = pages;
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
    pages_move_back(to, bytes, at);
}

// Moves the pieces of [at, end) to `to`. Returns how many bytes have moved. *tried: bytes of the piece that could not be moved, or 0.
static size_t move_pieces(char *at, const char *end, char *to, size_t *tried) {
  size_t moved = 0, all = (size_t)(end - at);
  *tried = 0;
  while (moved < all) {
    size_t bytes = first_piece(at + moved, all - moved);
    if (!bytes) break;
    if (!pages_move(at + moved, bytes, to + moved)) {
      *tried = bytes;
      break;
    }
    moved += bytes;
  }
  return moved;
}

static bool failed(long result) { return result < 0 && result >= -4095; }

// Holds the addresses that the mapping shall have, in place of what is mapped there if they are fixed.
static long hold(char *wanted, size_t bytes, int flags) {
  int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (flags & MREMAP_FIXED ? MAP_FIXED : 0);
  return raw_syscall(SYS_mmap, flags & MREMAP_FIXED ? (long)wanted : 0, (long)bytes, PROT_NONE, how, -1, 0);
}

// Where the kernel refuses, it may have unmapped `to`, and another thread may have mapped something there.
void mremap_pieces_open(void) {
  enum { kBytes = 2 * kPageBytes };
  char *at = pages_map(NULL, 2 * kBytes);
  if (!at) return;
  char *to = at + kBytes;
  bool is_several = !failed(hold(at + kPageBytes, kPageBytes, MREMAP_FIXED));
  kernel_moves_several = is_several && remap(at, kBytes, kBytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) == (long)to;
  pages_unmap(kernel_moves_several ? to : at, kBytes);
}

// On failure what is held is unmapped, except where a piece that could not be moved should have gone: the kernel may have unmapped that already, and
// another thread may have mapped something there.
static void *moved(char *at, char *last, size_t old, size_t bytes, int flags, char *wanted) {
  size_t before = (size_t)(last - at), tried;
  long held = hold(wanted, bytes, flags);
  if (failed(held)) return refused(held);
  char *to = (char *)held;
  size_t done = move_pieces(at, last, to, &tried);
  if (done < before) {
    move_back(at, to, to + done);
    pages_unmap(to + done + tried, bytes - done - tried);
    return refused(done ? -ENOMEM : -EFAULT);
  }
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

// The kernel refuses other arguments, with errors of its own.
static bool is_possible(const char *at, size_t old, size_t bytes, int flags, const char *wanted) {
  uintptr_t from = (uintptr_t)at, to = (uintptr_t)wanted, end = (uintptr_t)1 << kAddressBits;
  if (from % kPageBytes || !old || !bytes || flags & ~(MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP)) return false;
  if (flags & MREMAP_DONTUNMAP && (!(flags & MREMAP_MAYMOVE) || old != bytes)) return false;
  if (!(flags & MREMAP_FIXED)) return bytes >= old;
  if (!(flags & MREMAP_MAYMOVE) || to % kPageBytes || from >= end || to >= end) return false;
  return old <= end - from && bytes <= end - to && (to >= from + old || from >= to + bytes);
}

void *mremap_pieces(char *at, size_t old, size_t bytes, int flags, char *wanted) {
  old = whole_pages(old);
  bytes = whole_pages(bytes);
  size_t stays = bytes < old ? bytes : old;
  char *last = is_possible(at, old, bytes, flags, wanted) ? last_piece(at, at + stays) : NULL;
  if (!last || last == at) return NULL;
  if (!(flags & MREMAP_FIXED) && bytes > old) {
    long got = remap(last, (size_t)(at + old - last), (size_t)(at + bytes - last), 0, NULL);
    if (got == (long)last) return at;
    if (got != -ENOMEM || !(flags & MREMAP_MAYMOVE)) return refused(got);
  }
  void *there = moved(at, last, stays, bytes, flags, wanted);
  if (there != MAP_FAILED && old > stays) pages_unmap(at + stays, old - stays);
  return there;
}
