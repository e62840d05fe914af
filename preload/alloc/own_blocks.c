// SPDX-License-Identifier: Apache-2.0
// Three levels by address: 47 bits = 12 | 13 | 22. A bitmap covers 4 MiB; the kernel wipes it in a forked child, which
// inherits all present blocks. If several threads map a bitmap at once, the first one's is used and the others are
// unmapped.
#include "preload/alloc/own_blocks.h"

#include <stddef.h>
#include <sys/mman.h>

#include "preload/base/raw_syscall.h"
#include "preload/core/recorder.h"

struct own_middle *own_blocks_top[kOwnTop];
static bool incomplete;  // some blocks could not be noted

static void *map_zeros(size_t bytes, bool wiped) {
  if (!recording_system_calls_allowed()) return NULL;
  long at = raw_syscall(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at < 0 && at >= -4095) return NULL;
  if (!wiped || raw_syscall3(SYS_madvise, at, (long)bytes, MADV_WIPEONFORK) == 0) return (void *)at;
  raw_syscall2(SYS_munmap, at, (long)bytes);
  return NULL;
}

// Returns the memory that *place points to, and maps it first if *place is null. Null: no memory.
static void *get(void **place, size_t bytes, bool wiped) {
  void *known = __atomic_load_n(place, __ATOMIC_ACQUIRE);
  if (likely(known != NULL)) return known;
  void *fresh = map_zeros(bytes, wiped);
  if (!fresh) return NULL;
  if (__atomic_compare_exchange_n(place, &known, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return fresh;
  raw_syscall2(SYS_munmap, (long)fresh, (long)bytes);
  return known;
}

COLD void own_blocks_add_slowly(struct own_place at) {
  struct own_middle *middle = get((void **)own_middle_of(at), sizeof *middle, false);
  struct own_piece *piece = middle ? get((void **)&middle->pieces[at.piece % kOwnMiddle], sizeof *piece, true) : NULL;
  if (unlikely(!piece)) {
    __atomic_store_n(&incomplete, true, __ATOMIC_RELAXED);
    return;
  }
  __atomic_fetch_or(&piece->words[at.word], at.bit, __ATOMIC_RELAXED);
}

COLD bool own_blocks_may_lack(void) { return __atomic_load_n(&incomplete, __ATOMIC_RELAXED); }
