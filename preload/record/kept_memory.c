// SPDX-License-Identifier: Apache-2.0
#include "preload/record/kept_memory.h"

#include <stdint.h>
#include <sys/mman.h>

#include "preload/base/raw_syscall.h"
#include "preload/core/recorder.h"

static char *chunks[kKeptChunksMax];
static uint64_t taken;  // chunks started << 32 | bytes used of the last one

// If several threads map a chunk at once, the first one's is used and the others are unmapped.
static char *chunk_at(uint32_t number) {
  char *known = __atomic_load_n(&chunks[number], __ATOMIC_ACQUIRE);
  if (known || !recording_system_calls_allowed()) return known;
  long fresh = raw_syscall(SYS_mmap, 0, kKeptChunkBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh < 0 && fresh >= -4095) return NULL;
  if (__atomic_compare_exchange_n(&chunks[number], &known, (char *)fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return (char *)fresh;
  raw_syscall2(SYS_munmap, fresh, kKeptChunkBytes);
  return known;
}

void *keep_memory(size_t bytes) {
  bytes = (bytes + 15) & ~(size_t)15;
  if (bytes > kKeptChunkBytes) return NULL;
  uint64_t before = __atomic_load_n(&taken, __ATOMIC_ACQUIRE);
  for (;;) {
    uint32_t begun = (uint32_t)(before >> 32), used = (uint32_t)before;
    bool fits = begun && used + bytes <= kKeptChunkBytes;
    if (!fits && (begun == kKeptChunksMax || !chunk_at(begun))) return NULL;
    uint64_t after = fits ? before + bytes : (uint64_t)(begun + 1) << 32 | bytes;
    if (!__atomic_compare_exchange_n(&taken, &before, after, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) continue;
    return fits ? chunks[begun - 1] + used : chunks[begun];
  }
}
