// SPDX-License-Identifier: Apache-2.0
#include "preload/placement/memkind_heap.h"

#include <dlfcn.h>
#include <stddef.h>
#include <sys/mman.h>

#include "preload/base/next_symbol.h"
#include "preload/placement/heap.h"
#include "preload/placement/heap_parts.h"

enum { kUsualAlignment = 16 };

static struct {
  int (*create_fixed)(void *at, size_t bytes, void **kind);
  void *(*malloc)(void *kind, size_t bytes);
  void *(*calloc)(void *kind, size_t count, size_t each);
  int (*posix_memalign)(void *kind, void **block, size_t alignment, size_t bytes);
  void *(*realloc)(void *kind, void *block, size_t bytes);
  void (*free)(void *kind, void *block);
  size_t (*usable)(void *kind, void *block);
} memkind;

// This thread is inside memkind, whose own allocations go to the program's allocator.
static __thread bool is_inside __attribute__((tls_model("initial-exec")));

static bool find_memkind(void) {
  void *(*open)(const char *, int) = (void *(*)(const char *, int))libc_symbol("dlopen");
  symbol (*find)(void *, const char *) = (symbol(*)(void *, const char *))libc_symbol("dlsym");
  void *library = open && find ? open(MLRUN_MEMKIND_LIBRARY, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!library) return false;
  memkind.create_fixed = (int (*)(void *, size_t, void **))find(library, "memkind_create_fixed");
  memkind.malloc = (void *(*)(void *, size_t))find(library, "memkind_malloc");
  memkind.calloc = (void *(*)(void *, size_t, size_t))find(library, "memkind_calloc");
  memkind.posix_memalign = (int (*)(void *, void **, size_t, size_t))find(library, "memkind_posix_memalign");
  memkind.realloc = (void *(*)(void *, void *, size_t))find(library, "memkind_realloc");
  memkind.free = (void (*)(void *, void *))find(library, "memkind_free");
  memkind.usable = (size_t(*)(void *, void *))find(library, "memkind_malloc_usable_size");
  return memkind.create_fixed && memkind.malloc && memkind.calloc && memkind.posix_memalign && memkind.realloc &&
         memkind.free && memkind.usable;
}

// Enters the heap, tagged with bit 1, for each segment of its region (window.h).
static void mark_segments(struct heap *heap, uint32_t first, size_t bytes) {
  for (uint32_t i = 0; (size_t)i << kSegmentBits < bytes; i++)
    __atomic_store_n(&window_tables[first + i], (uintptr_t)heap | 2, __ATOMIC_RELEASE);
}

static uint32_t first_segment_of(const struct heap *heap) { return kSegments / placement_rules * heap->number; }

static char *region_of(const struct heap *heap) { return address_of(first_segment_of(heap) * kSegmentPages); }

static void open_one(struct heap *heap) {
  uint32_t segments = kSegments / placement_rules;
  size_t bytes = heap->rule->budget_bytes / kPageBytes * kPageBytes;
  char *at = region_of(heap);
  if (bytes > (size_t)segments << kSegmentBits || pages_hold(at, bytes) != 0) return;
  if (raw_syscall3(SYS_mprotect, (long)at, (long)bytes, PROT_READ | PROT_WRITE) != 0 ||
      !policy_apply(heap->rule, at, bytes, false, kNewOnly) || memkind.create_fixed(at, bytes, &heap->memkind) != 0) {
    heap->memkind = NULL;
    return;
  }
  mark_segments(heap, first_segment_of(heap), bytes);
  __atomic_store_n(&heap->source, kOfMemkind, __ATOMIC_RELEASE);
}

void memkind_begin(void) {
  bool is_wanted = false;
  for (uint32_t i = 0; i < heaps_opened; i++) is_wanted |= heaps[i].rule->flags & MLRUN_PLACE_MEMKIND;
  if (!is_wanted || !find_memkind()) return;
  for (uint32_t i = 0; i < heaps_opened; i++)
    if (heaps[i].rule->flags & MLRUN_PLACE_MEMKIND) open_one(&heaps[i]);
}

struct heap *memkind_heap_of(const void *block) {
  if (!window.base || ((uintptr_t)block - window.base) >> kSegmentBits >= kSegments) return NULL;
  uintptr_t table = window_tables[((uintptr_t)block - window.base) >> kSegmentBits];
  return table & 2 ? (struct heap *)(table & ~(uintptr_t)3) : NULL;
}

// Under the lock.
static void end_block(struct heap *heap, void *block) {
  note_live_bytes(heap, -(int64_t)memkind.usable(heap->memkind, block));
  memkind.free(heap->memkind, block);
}

static void leave(struct heap *heap) {
  heap_unlock(heap);
  is_inside = false;
}

// False: memkind must not be called. This thread is already inside it, it has ended, or a fork is in progress, for which memkind holds its own locks.
static bool enter(struct heap *heap) {
  if (is_inside || has_all_locks()) return false;
  is_inside = true;
  heap_lock(heap);
  if (heap->source == kOfMemkind) {
    while (heap->pending) {
      void *block = heap->pending;
      heap->pending = *(void **)block;
      end_block(heap, block);
    }
    return true;
  }
  leave(heap);
  return false;
}

void memkind_end(void) {
  for (uint32_t i = 0; i < heaps_opened; i++) {
    if (heaps[i].source != kOfMemkind) continue;
    heap_lock(&heaps[i]);
    heaps[i].source = kClosed;
    heap_unlock(&heaps[i]);
  }
}

void *memkind_allocate(struct heap *heap, size_t bytes, size_t alignment, bool zeroed) {
  void *block = NULL;
  if (!enter(heap)) return NULL;
  if (alignment > kUsualAlignment) {
    if (memkind.posix_memalign(heap->memkind, &block, alignment, bytes)) block = NULL;
  } else {
    block = zeroed ? memkind.calloc(heap->memkind, 1, bytes) : memkind.malloc(heap->memkind, bytes);
  }
  if (block) {
    note_match(heap, bytes, true);
    note_live_bytes(heap, (int64_t)memkind.usable(heap->memkind, block));
  }
  leave(heap);
  return block;
}

void *memkind_resize(struct heap *heap, void *block, size_t bytes) {
  if (!enter(heap)) return NULL;
  size_t old = memkind.usable(heap->memkind, block);
  void *resized = memkind.realloc(heap->memkind, block, bytes);
  if (resized) note_live_bytes(heap, (int64_t)memkind.usable(heap->memkind, resized) - (int64_t)old);
  leave(heap);
  return resized;
}

void memkind_release(struct heap *heap, void *block) {
  if (enter(heap)) {
    end_block(heap, block);
    leave(heap);
  } else if (has_all_locks()) {
    *(void **)block = heap->pending;
    heap->pending = block;
  }
}

size_t memkind_usable(const struct heap *heap, void *block) {
  return heap->source == kOfMemkind ? memkind.usable(heap->memkind, block) : 0;
}

size_t memkind_readable(const struct heap *heap, void *block) {
  if (heap->source == kOfMemkind) return memkind.usable(heap->memkind, block);
  return (size_t)(region_of(heap) + heap->rule->budget_bytes / kPageBytes * kPageBytes - (char *)block);
}
