// SPDX-License-Identifier: Apache-2.0
// Rules about mappings: an anonymous private mapping that the program makes gets the rule's policy right after its mmap; nothing else changes.
// Mappings that libc makes itself (its allocator, thread stacks) do not call these hooks. The kernel keeps the policy when it moves the
// mapping (mremap); where it refuses to because rules have made several mappings of it, mremap_pieces() does.
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/types.h>

#include "preload/base/raw_syscall.h"
#include "preload/base/real_function.h"
#include "preload/core/confinement.h"
#include "preload/placement/heap.h"
#include "preload/placement/memory_locks.h"
#include "preload/placement/mremap_pieces.h"
#include "preload/placement/ratio.h"
#include "preload/placement/ratio_mappings.h"
#include "preload/placement/rules.h"
#include "preload/placement/start.h"
#include "preload/placement/window.h"

static bool any_placed;

// What MAP_POPULATE does. Before Linux 5.14 page by page, without a change of what another thread has written meanwhile.
static void fill(char *at, size_t bytes, int access) {
  enum { kPopulateRead = 22, kPopulateWrite = 23 };  // MADV_...
  if (!(access & (PROT_READ | PROT_WRITE))) return;
  int how = access & PROT_WRITE ? kPopulateWrite : kPopulateRead;
  if (raw_syscall3(SYS_madvise, (long)at, (long)bytes, how) != -EINVAL) return;
  for (volatile char *page = at; page < at + bytes; page += kPageBytes)
    if (access & PROT_WRITE)
      __atomic_fetch_or(page, 0, __ATOMIC_RELAXED);
    else
      (void)*page;
}

// Pages that the mapping has from the start are those of the default policy. The kernel moves huge ones only whole, so they are made again under the
// rule's policy. This is skipped for locked memory, where the kernel forbids it, and for addresses that other threads may know.
static COLD void place(char *at, size_t bytes, int access, int flags, const struct stack_start *caller) {
  struct rule_search search;
  if (is_confined()) return;
  rule_search_begin(&search, MLRUN_PLACE_MMAP, bytes, caller);
  int rule = next_rule(&search);
  if (rule == kNoRule) return;
  note_first_block();
  if (flags & MAP_HUGETLB) {
    // The kernel has reserved huge pages of any node for it: bound to a node that has too few of them, the program would get SIGBUS.
    heap_note_mapping_left_alone((uint32_t)rule, bytes);
    return;
  }
  __atomic_store_n(&any_placed, true, __ATOMIC_RELAXED);
  bool has_pages = flags & (MAP_POPULATE | MAP_LOCKED) || new_memory_is_filled();
  bool is_emptied =
      (flags & (MAP_POPULATE | MAP_NONBLOCK | MAP_LOCKED | MAP_FIXED | MAP_FIXED_NOREPLACE)) == MAP_POPULATE &&
      !raw_syscall3(SYS_madvise, (long)at, (long)bytes, MADV_DONTNEED);
  if (heap_place_mapping((uint32_t)rule, at, bytes, has_pages && !is_emptied ? kExistingToo : kNewOnly))
    note_mapping((uint32_t)rule, at, bytes);
  if (is_emptied) fill(at, bytes, access);
}

INLINE bool is_any_placed(void) { return unlikely(__atomic_load_n(&any_placed, __ATOMIC_RELAXED)); }

static COLD void forget_placed(const void *at, size_t bytes) {
  ratio_mappings_end(at, bytes);
  forget_mapping(at, bytes);
}

INLINE void forget(const void *at, size_t bytes) {
  if (is_any_placed()) forget_placed(at, bytes);
}

static __attribute__((noinline)) void place_for_caller(void *at, size_t bytes, int access, int flags) {
  struct stack_start caller = stack_start_of_caller();
  place(at, bytes, access, flags, &caller);
}

INLINE void *placed(void *at, size_t bytes, int access, int flags) {
  int kind = MAP_PRIVATE | MAP_ANONYMOUS, never = MAP_STACK | MAP_GROWSDOWN;
  if (unlikely(flags & MAP_FIXED)) forget(at, bytes);
  if (unlikely(bytes >= least_mapping) && at != MAP_FAILED && (flags & (kind | never)) == kind)
    place_for_caller(at, bytes, access, flags);
  return at;
}

EXPORT void *mmap(void *address, size_t bytes, int access, int flags, int fd, off_t offset) {
  REAL(void *, mmap, void *, size_t, int, int, int, off_t);
  return placed(real(address, bytes, access, flags, fd, offset), bytes, access, flags);
}

void *mmap64(void *address, size_t bytes, int access, int flags, int fd, off64_t offset);

EXPORT void *mmap64(void *address, size_t bytes, int access, int flags, int fd, off64_t offset) {
  REAL(void *, mmap64, void *, size_t, int, int, int, off64_t);
  return placed(real(address, bytes, access, flags, fd, offset), bytes, access, flags);
}

EXPORT int munmap(void *address, size_t bytes) {
  REAL(int, munmap, void *, size_t);
  forget(address, bytes);
  return real(address, bytes);
}

// Cuts what a mapping that is in pieces has grown by. What is too small for a piece of each share stays with the last piece.
static uint32_t pieces_of_growth(const struct ratio_mapping *mapping, char *at, size_t bytes_before, size_t bytes) {
  const struct mlrun_place_rule *rule = rule_at(mapping->rule);
  size_t old = (bytes_before + kPageBytes - 1) / kPageBytes, pages = (bytes + kPageBytes - 1) / kPageBytes;
  if (mapping->pieces < 2 || pages < old + ratio_sum(rule) * kPiecePages) return 0;
  return ratio_apply(rule, at + old * kPageBytes, pages - old, kNewOnly);
}

typedef void *mremap_function(void *, size_t, size_t, int, void *);

static void *resize(mremap_function *real, void *address, size_t bytes_before, size_t bytes, int flags, void *wanted) {
  int error = errno;
  bool kernel_is_second = flags & MREMAP_FIXED && !kernel_moves_several;
  void *at = kernel_is_second ? mremap_pieces(address, bytes_before, bytes, flags, wanted) : NULL;
  if (at) return at;
  at = real(address, bytes_before, bytes, flags, wanted);
  if (at != MAP_FAILED || errno != EFAULT || kernel_is_second) return at;
  void *there = mremap_pieces(address, bytes_before, bytes, flags, wanted);
  if (there && there != MAP_FAILED) errno = error;
  return there ? there : at;
}

static COLD void *resize_placed(mremap_function *real, void *address, size_t bytes_before, size_t bytes, int flags,
                                void *wanted) {
  struct ratio_mapping mapping = {0};
  if (!(flags & MREMAP_DONTUNMAP)) mapping = ratio_mapping_take(address, bytes_before);
  void *at = resize(real, address, bytes_before, bytes, flags, wanted);
  if (at == MAP_FAILED) {
    ratio_mapping_put(&mapping, address, bytes_before);
    return at;
  }
  mapping.pieces += pieces_of_growth(&mapping, at, bytes_before, bytes);
  ratio_mapping_put(&mapping, at, bytes);
  if (bytes_before != 0) move_mapping(address, bytes_before, at, bytes);
  return at;
}

// Declared with the maximum number of arguments, because they are passed on.
void *mremap_hook(void *address, size_t bytes_before, size_t bytes, int flags, void *wanted) __asm__("mremap");

EXPORT void *mremap_hook(void *address, size_t bytes_before, size_t bytes, int flags, void *wanted) {
  REAL(void *, mremap, void *, size_t, size_t, int, void *);
  if (unlikely(flags & MREMAP_FIXED)) forget(wanted, bytes);
  if (is_any_placed()) return resize_placed(real, address, bytes_before, bytes, flags, wanted);
  return real(address, bytes_before, bytes, flags, wanted);
}
