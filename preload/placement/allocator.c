// SPDX-License-Identifier: Apache-2.0
// The malloc family, in front of the program's allocator. Sizes smaller than any rule's least size go straight to that allocator, and so
// does free of its blocks: one comparison and a jump. realloc may move a block that grows to a rule's size to the rule's heap. Callable by
// any thread, before main and after destructors; like libc's, not in signal handlers.
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "preload/base/real_allocator.h"
#include "preload/base/real_function.h"
#include "preload/placement/heap.h"
#include "preload/placement/memkind_heap.h"
#include "preload/placement/rules.h"
#include "preload/placement/start.h"

enum { kAlignmentMax = 1 << 30 };

static COLD void resolve(void) {
  if (!__atomic_load_n(&real_allocator.malloc, __ATOMIC_ACQUIRE)) real_allocator_resolve();
}

// Counts a fallback of each rule that matched and could not serve the call, unless the block could not be had elsewhere either. refused:
// one bit for each of them.
static void *given(uint64_t refused, size_t bytes, void *block) {
  for (; unlikely(refused) && block; refused &= refused - 1)
    heap_note_fallback((uint32_t)__builtin_ctzll(refused), bytes);
  return block;
}

// Allocates from the heap of the first matching rule that can serve the call. Null: the program's allocator has to; *refused then has the
// rules that could not.
static void *placed(size_t bytes, size_t alignment, bool zeroed, const struct stack_start *caller, uint64_t *refused) {
  struct rule_search search;
  int error = errno, rule;
  void *block = NULL;
  rule_search_begin(&search, MLRUN_PLACE_MALLOC, bytes, caller);
  while (!block && (rule = next_rule(&search)) != kNoRule) {
    note_first_block();
    block = alignment <= kAlignmentMax ? heap_allocate((uint32_t)rule, bytes, alignment, zeroed) : NULL;
    if (!block) *refused |= 1ull << rule;
  }
  errno = error;
  return given(*refused, bytes, block);
}

static COLD void begin(void) {
  resolve();
  start_placement();
}

// The slow half of malloc, for the process's first allocations and for sizes from the smallest rule on.
static __attribute__((noinline)) void *large_malloc(size_t size) {
  struct stack_start caller = stack_start_of_caller();
  if (unlikely(!least_bytes)) begin();
  uint64_t refused = 0;
  void *block = size >= least_bytes ? placed(size, 0, false, &caller, &refused) : NULL;
  return block ? block : given(refused, size, real_allocator.malloc(size));
}

EXPORT void *malloc(size_t size) {
  return unlikely(size >= least_bytes) ? large_malloc(size) : real_allocator.malloc(size);
}

static __attribute__((noinline)) void *large_calloc(size_t count, size_t each, size_t size) {
  struct stack_start caller = stack_start_of_caller();
  if (unlikely(!least_bytes)) begin();
  uint64_t refused = 0;
  void *block = size >= least_bytes ? placed(size, 0, true, &caller, &refused) : NULL;
  return block ? block : given(refused, size, real_allocator.calloc(count, each));
}

EXPORT void *calloc(size_t count, size_t each) {
  size_t size;
  if (unlikely(__builtin_mul_overflow(count, each, &size))) size = 0;  // the real function fails
  return unlikely(size >= least_bytes) ? large_calloc(count, each, size) : real_allocator.calloc(count, each);
}

static __attribute__((noinline)) void free_in_window(void *block) {
  if (unlikely(!least_bytes)) resolve();
  struct run *run = live_run(block);
  int error = errno;
  if (likely(run)) {
    heap_free(run, block);
  } else {
    struct heap *of_memkind = memkind_heap_of(block);
    if (!of_memkind) {
      real_allocator.free(block);
      return;
    }
    memkind_release(of_memkind, block);
  }
  errno = error;
}

EXPORT void free(void *block) {
  if (unlikely(in_window(block)))
    free_in_window(block);
  else
    real_allocator.free(block);
}

void cfree(void *block);
void free_sized(void *block, size_t size);
void free_aligned_sized(void *block, size_t alignment, size_t size);

EXPORT void cfree(void *block) { free(block); }

static void free_by_size(void *block) {
  resolve();
  if (unlikely(real_allocator.free_in_front != NULL))
    real_allocator.free_in_front(block);
  else
    free(block);
}

EXPORT void free_sized(void *block, size_t size) {
  (void)size;
  free_by_size(block);
}

EXPORT void free_aligned_sized(void *block, size_t alignment, size_t size) {
  (void)alignment;
  (void)size;
  free_by_size(block);
}

// Which heap a block belongs to.
struct owner {
  int rule;  // kNoRule: it belongs to the program's allocator
  struct run *run;
  struct heap *memkind;
  size_t usable;
};

static struct owner owner_of(void *block) {
  struct owner owner = {kNoRule, NULL, NULL, 0};
  if (!in_window(block)) return owner;
  owner.run = live_run(block);
  if (!owner.run) owner.memkind = memkind_heap_of(block);
  if (owner.run) {
    owner.rule = owner.run->rule;
    owner.usable = heap_usable(owner.run);
  } else if (owner.memkind) {
    owner.rule = heap_rule(owner.memkind);
    owner.usable = memkind_readable(owner.memkind, block);
  }
  return owner;
}

static void *resize_in_place(const struct owner *owner, void *block, size_t size) {
  return owner->run ? heap_resize(owner->run, block, size) : memkind_resize(owner->memkind, block, size);
}

size_t size_if_known(void *block) {
  if (!block) return 0;
  struct owner owner = owner_of(block);
  if (owner.memkind) return memkind_usable(owner.memkind, block);
  if (owner.run) return owner.usable;
  resolve();
  return usable_size(block);
}

// Where the program's allocator has none, the program gets the function that it would get without us: that of libc, for libraries that pass blocks on
// to libc.
EXPORT size_t malloc_usable_size(void *block) {
  REAL(size_t, malloc_usable_size, void *);
  size_t size = size_if_known(block);
  if (size != SIZE_UNKNOWN) return size;
  return real ? real(block) : 0;
}

static void *moved(void *old, size_t keep, void *block) {
  if (!block) return NULL;
  memcpy(block, old, keep);
  free(old);
  return block;
}

// One bit for each rule about blocks that covers this size.
static uint64_t rules_that_cover(size_t bytes) {
  uint64_t covering = 0;
  for (uint64_t left = chosen.blocks; left; left &= left - 1) {
    int rule = __builtin_ctzll(left);
    if (bytes >= chosen.sizes[rule].min_bytes && bytes <= chosen.sizes[rule].max_bytes) covering |= 1ull << rule;
  }
  return covering;
}

// realloc of one of our blocks to 0 bytes: returns what the program's allocator returns in that case, null or a block.
static void *end_ours(void *old) {
  void *least = real_allocator.malloc(1), *left = least ? real_allocator.realloc(least, 0) : NULL;
  free(old);
  return left;
}

// Resizes a block as the first matching rule that can: in its own heap, or by a copy into the heap of another rule. Null: no rule can.
// *refused then has the matching rules. A block of the program's allocator does not go to a rule that covered its old size too: that one refused it, or it
// is not of the rule's caller.
static void *resized_by_rule(const struct owner *owner, void *old, size_t size, const struct stack_start *caller,
                             uint64_t *refused) {
  struct rule_search search;
  size_t keep = owner->usable < size ? owner->usable : size;
  int rule;
  rule_search_begin(&search, MLRUN_PLACE_MALLOC, size, caller);
  if (owner->rule == kNoRule) search.left &= ~rules_that_cover(owner->usable);
  while ((rule = next_rule(&search)) != kNoRule) {
    bool stays = rule == owner->rule;
    note_first_block();
    void *block =
        stays ? resize_in_place(owner, old, size) : moved(old, keep, heap_allocate((uint32_t)rule, size, 0, false));
    if (block) return stays ? block : given(*refused, size, block);
    *refused |= 1ull << rule;
  }
  return NULL;
}

// realloc of one of our blocks: by a rule, or by a copy into the program's allocator. A rule that refuses a block which then stays in its heap counts no
// fallback: a realloc is not another allocation.
static void *resize_ours(const struct owner *owner, void *old, size_t size, const struct stack_start *caller) {
  size_t usable = owner->usable, keep = usable < size ? usable : size;
  if (!size) return end_ours(old);
  uint64_t refused = 0;
  int error = errno;
  void *block = size >= least_bytes ? resized_by_rule(owner, old, size, caller, &refused) : NULL;
  if (block) {
    errno = error;
    return block;
  }
  block = given(refused, size, moved(old, keep, real_allocator.malloc(size)));
  if (block || size > usable) return block;
  errno = error;  // no memory for a copy, but the old block is large enough: libc's realloc also shrinks in place
  return old;
}

// realloc of a block of the program's allocator: by a copy into a rule's heap, or by that allocator.
static void *resize_others(void *old, size_t size, const struct stack_start *caller) {
  struct owner owner = {kNoRule, NULL, NULL, size >= least_bytes ? usable_size(old) : SIZE_UNKNOWN};
  // One that shrinks stays too: a copy would need the memory of both.
  if (owner.usable == SIZE_UNKNOWN || owner.usable >= size) return real_allocator.realloc(old, size);
  uint64_t refused = 0;
  int error = errno;
  void *block = resized_by_rule(&owner, old, size, caller, &refused);
  errno = error;
  return block ? block : given(refused, size, real_allocator.realloc(old, size));
}

static __attribute__((noinline)) void *resized(void *old, size_t size) {
  struct stack_start start = stack_start_of_caller();
  const struct stack_start *caller = &start;
  if (unlikely(!least_bytes)) begin();
  if (!old) {
    uint64_t refused = 0;
    void *block = size >= least_bytes ? placed(size, 0, false, caller, &refused) : NULL;
    return block ? block : given(refused, size, real_allocator.realloc(old, size));
  }
  struct owner owner = owner_of(old);
  return owner.rule != kNoRule ? resize_ours(&owner, old, size, caller) : resize_others(old, size, caller);
}

EXPORT void *realloc(void *old, size_t size) {
  return likely(size < least_bytes && !in_window(old)) ? real_allocator.realloc(old, size) : resized(old, size);
}

EXPORT void *reallocarray(void *old, size_t count, size_t each) {
  size_t size;
  if (__builtin_mul_overflow(count, each, &size)) {
    errno = ENOMEM;
    return NULL;
  }
  resolve();
  return unlikely(real_allocator.realloc_in_front != NULL) ? real_allocator.realloc_in_front(old, size)
                                                           : resized(old, size);
}

static bool is_power_of_two(size_t number) { return number && !(number & (number - 1)); }

static void *aligned(size_t alignment, size_t size, const struct stack_start *caller, uint64_t *refused) {
  if (unlikely(!least_bytes)) begin();
  return size >= least_bytes && is_power_of_two(alignment) ? placed(size, alignment, false, caller, refused) : NULL;
}

EXPORT int posix_memalign(void **block, size_t alignment, size_t size) {
  struct stack_start caller = stack_start_of_caller();
  uint64_t refused = 0;
  int error = 0;
  void *ours = alignment % sizeof(void *) == 0 ? aligned(alignment, size, &caller, &refused) : NULL;
  if (ours)
    *block = ours;
  else if (!(error = real_allocator.posix_memalign(block, alignment, size)))
    given(refused, size, *block);
  return error;
}

EXPORT void *aligned_alloc(size_t alignment, size_t size) {
  struct stack_start caller = stack_start_of_caller();
  uint64_t refused = 0;
  void *ours = aligned(alignment, size, &caller, &refused);
  return ours ? ours : given(refused, size, real_allocator.aligned_alloc(alignment, size));
}

EXPORT void *memalign(size_t alignment, size_t size) {
  struct stack_start caller = stack_start_of_caller();
  uint64_t refused = 0;
  void *ours = aligned(alignment, size, &caller, &refused);
  return ours ? ours : given(refused, size, real_allocator.memalign(alignment, size));
}

EXPORT void *valloc(size_t size) {
  struct stack_start caller = stack_start_of_caller();
  uint64_t refused = 0;
  void *ours = aligned(kPageBytes, size, &caller, &refused);
  return ours ? ours : given(refused, size, real_allocator.valloc(size));
}

EXPORT void *pvalloc(size_t size) {
  struct stack_start caller = stack_start_of_caller();
  uint64_t refused = 0;
  void *ours = aligned(kPageBytes, size, &caller, &refused);
  return ours ? ours : given(refused, size, real_allocator.pvalloc(size));
}
