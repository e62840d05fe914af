// SPDX-License-Identifier: Apache-2.0
#include "preload/placement/file_heap.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "preload/placement/heap_parts.h"

#ifndef MAP_SHARED_VALIDATE
#define MAP_SHARED_VALIDATE 3
#endif
#ifndef MAP_SYNC
#define MAP_SYNC 0x80000
#endif

enum { kPopulateRead = 22, kPopulateWrite = 23 };  // MADV_POPULATE_..., since Linux 5.14

// The copy of one range of a heap, during a fork.
struct file_copy {
  char *at;  // null: the range has no live blocks, or the copy failed
  size_t bytes;
  bool failed;
};

static struct file_copy copies[MLRUN_PLACE_RULES][kRanges];

// Checked first, because making a file larger than RLIMIT_FSIZE would send SIGXFSZ to the program.
static bool may_be_so_large(uint64_t bytes) {
  struct rlimit limit;
  return raw_syscall4(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit) == 0 && limit.rlim_cur >= bytes;
}

long file_create(const char *folder, uint64_t bytes) {
  if (!may_be_so_large(bytes)) return -EFBIG;
  long fd = raw_syscall4(SYS_openat, AT_FDCWD, (long)folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  long result = fd < 0 ? fd : raw_syscall2(SYS_ftruncate, fd, (long)bytes);
  if (fd < 0 || result == 0) return fd;
  raw_syscall1(SYS_close, fd);
  return result;
}

static bool map_at(long fd, void *at, size_t bytes, uint64_t offset, int flags) {
  int access = PROT_READ | PROT_WRITE;
  return (void *)raw_syscall(SYS_mmap, (long)at, (long)bytes, access, flags | MAP_FIXED, fd, (long)offset) == at;
}

// MAP_SHARED_VALIDATE refuses MAP_FIXED_NOREPLACE, so pages_hold() takes the addresses first. The first mapping only tests, by MAP_SYNC, whether the
// file system maps its device directly (DAX). A second one without the flag replaces it: with MAP_SYNC each first write to a page commits the file
// system's journal, which is not needed, because no block has to survive a power failure.
bool file_map(long fd, void *at, size_t bytes, uint64_t offset) {
  return pages_hold(at, bytes) == 0 && map_at(fd, at, bytes, offset, MAP_SHARED_VALIDATE | MAP_SYNC) &&
         map_at(fd, at, bytes, offset, MAP_SHARED) &&
         raw_syscall3(SYS_madvise, (long)at, (long)bytes, MADV_DONTFORK) == 0;
}

bool file_populate(void *at, size_t bytes) {
  long result;
  do {
    result = raw_syscall3(SYS_madvise, (long)at, (long)bytes, kPopulateWrite);
  } while (result == -EINTR || result == -EAGAIN);
  return result == 0;
}

bool file_give_back(void *at, size_t bytes) { return pages_release(at, bytes, MADV_REMOVE); }

static bool has_live_blocks(const struct range *range) {
  for (uint32_t page = range->first; page < range->top; page += run_at(page)->room)
    if (run_at(page)->state == kLive) return true;
  return false;
}

static bool is_readable(void *at, size_t bytes) {
  return raw_syscall3(SYS_madvise, (long)at, (long)bytes, kPopulateRead) == 0;
}

// Pages that the program has protected from reading are zeros in the copy.
static void copy_block(char *to, char *from, size_t bytes) {
  if (is_readable(from, bytes)) {
    memcpy(to, from, bytes);
    return;
  }
  for (size_t at = 0; at < bytes; at += kPageBytes)
    if (is_readable(from + at, kPageBytes)) memcpy(to + at, from + at, kPageBytes);
}

static struct file_copy copy_of(const struct range *range) {
  struct file_copy copy = {NULL, (size_t)(range->mapped - range->first) * kPageBytes, false};
  if (!has_live_blocks(range)) return copy;
  copy.at = pages_map(NULL, copy.bytes);
  copy.failed = !copy.at;
  for (uint32_t page = range->first; copy.at && page < range->top; page += run_at(page)->room) {
    const struct run *run = run_at(page);
    if (run->state != kLive) continue;
    copy_block(copy.at + (size_t)(page - range->first) * kPageBytes, address_of(page), (size_t)run->pages * kPageBytes);
  }
  return copy;
}

// Calls `with` for each range that is in a file.
static void for_all_ranges(void (*with)(const struct heap *heap, struct range *range, struct file_copy *copy)) {
  for (uint32_t i = 0; i < heaps_opened; i++)
    for (uint32_t which = 0; which < kRanges && heaps[i].source == kInFile; which++)
      with(&heaps[i], &heaps[i].ranges[which], &copies[i][which]);
}

static void make_copy(const struct heap *heap, struct range *range, struct file_copy *copy) {
  *copy = heap->is_interrupted ? (struct file_copy){NULL, 0, true} : copy_of(range);
}

static void drop_copy(const struct heap *heap, struct range *range, struct file_copy *copy) {
  (void)heap;
  (void)range;
  if (copy->at) pages_unmap(copy->at, copy->bytes);
}

static void take_copy(const struct heap *heap, struct range *range, struct file_copy *copy) {
  (void)heap;
  char *at = address_of(range->first);
  if (copy->at)
    raw_syscall(SYS_mremap, (long)copy->at, (long)copy->bytes, (long)copy->bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                (long)at, 0);
  else if (!copy->failed)
    pages_map(at, copy->bytes);
}

void files_before_fork(void) { for_all_ranges(make_copy); }

void files_in_parent(void) { for_all_ranges(drop_copy); }

void files_in_child(void) {
  for_all_ranges(take_copy);
  for (uint32_t i = 0; i < heaps_opened; i++)
    if (heaps[i].source == kInFile) heaps[i].source = kClosed;
}
