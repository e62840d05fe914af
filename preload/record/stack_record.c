// SPDX-License-Identifier: Apache-2.0
// The set of ids that this process has defined is a cache in memory that the kernel wipes in a forked child: in a full
// bucket an id is overwritten, and its definition written again, which a reader ignores.
#include "preload/record/stack_record.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "preload/base/raw_syscall.h"
#include "preload/base/scratch.h"
#include "preload/record/channel.h"
#include "preload/record/module_record.h"
#include "preload/unwind/code_modules.h"
#include "preload/unwind/stack_walk.h"
#include "preload/unwind/unwind_cache.h"
#include "runner/events/content_hash.h"

enum { kWays = 8, kBuckets = 1 << 14, kShareOfLimit = 64, kPageBytes = 4096 };

// Wiped in a forked child.
struct defined {
  uint64_t ids[kBuckets][kWays];
  struct announced_modules modules;
};

HOT_CALL uint32_t stack_depth;
static struct defined *defined;

_Static_assert(MLRUN_STACK_DEPTH_MAX * sizeof(uint64_t) <= kScratchBytes, "the frames of a stack fit a scratch page");

static bool is_defined(uint64_t id) {
  const uint64_t *bucket = defined->ids[id % kBuckets];
  for (int way = 0; way < kWays; way++) {
    uint64_t there = __atomic_load_n(&bucket[way], __ATOMIC_RELAXED);
    if (there == id) return true;
    if (!there) return false;
  }
  return false;
}

static void set_defined(uint64_t id) {
  uint64_t *bucket = defined->ids[id % kBuckets];
  for (int way = 0; way < kWays; way++) {
    uint64_t there = 0;
    bool entered = __atomic_compare_exchange_n(&bucket[way], &there, id, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    if (entered || there == id) return;
  }
  __atomic_store_n(&bucket[id / kBuckets % kWays], id, __ATOMIC_RELAXED);
}

static char *map_private(size_t bytes) {
  long at =
      raw_syscall(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at < 0 ? NULL : (char *)at;
}

static size_t table_bytes(void) {
  size_t kept = kCacheEntries * sizeof(uint64_t) + code_modules_bytes();
  return (kept + kPageBytes - 1) / kPageBytes * kPageBytes + sizeof(struct defined);
}

static bool is_little(size_t bytes, int resource) {
  struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  raw_syscall4(SYS_prlimit64, 0, resource, 0, (long)&limit);
  return limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur / kShareOfLimit;
}

// Whether the tables take only a small share of what the program may map (RLIMIT_AS) and may have as data (RLIMIT_DATA).
static bool has_room_for(size_t bytes) { return is_little(bytes, RLIMIT_AS) && is_little(bytes, RLIMIT_DATA); }

// One mapping; the kernel wipes its second half in a forked child.
static bool map_tables(void) {
  size_t kept = table_bytes() - sizeof(struct defined);
  char *tables = has_room_for(table_bytes()) ? map_private(table_bytes()) : NULL;
  if (!tables) return false;
  if (raw_syscall3(SYS_madvise, (long)(tables + kept), sizeof(struct defined), MADV_WIPEONFORK) != 0) {
    raw_syscall2(SYS_munmap, (long)tables, (long)table_bytes());
    return false;
  }
  unwind_cache = (uint64_t *)tables;
  defined = (struct defined *)(tables + kept);
  code_modules_begin(tables + kCacheEntries * sizeof(uint64_t));
  return true;
}

const void *stack_tables(size_t *bytes) {
  *bytes = unwind_cache ? table_bytes() : 0;
  return unwind_cache;
}

void stacks_begin(struct mlrun_control *session) {
  uint32_t depth = session->stack_depth;
  if (!depth) return;
  if (!map_tables())
    __atomic_add_fetch(&session->failures[MLRUN_FAIL_NO_STACKS], 1, __ATOMIC_RELAXED);
  else
    stack_depth = depth < MLRUN_STACK_DEPTH_MAX ? depth : MLRUN_STACK_DEPTH_MAX;
}

void stacks_after_fork(void) {
  if (stack_depth) code_modules_after_fork();
}

// The tracer's frames are left out, wherever they are: libc's puts may allocate inside ours, and libcudart's cudaMalloc
// inside libmlrun_cupti's.
INLINE bool walk_on(struct stack_walk *walk) {
  do
    if (!stack_walk_next(walk)) return false;
  while (is_own_code(walk->pc));
  return true;
}

// Walks from the frame that `start` describes to the first frame that is not the tracer's.
INLINE bool walk_to_program(struct stack_walk *walk, const struct stack_start *start) {
  return stack_walk_begin(walk, start) && (!is_own_code(walk->pc) || walk_on(walk));
}

static uint64_t frame_word(const struct stack_walk *walk) {
  struct code_module module;
  uint64_t flag = walk->interrupted ? MLRUN_FRAME_INTERRUPTED : 0, raw = walk->pc & (MLRUN_SITE_IS_STACK - 1);
  if (find_code_module(walk->pc - !walk->interrupted, &module) != MODULE_FOUND) return flag | raw;
  uint64_t offset = walk->pc - module.bias;
  if (module.number > MLRUN_FRAME_MODULE_MAX || offset >> 32) return flag | raw;
  announce_module(&defined->modules, &module);
  return flag | MLRUN_FRAME_IN_MODULE | (uint64_t)module.number << 32 | offset;
}

// Repeats the walk, this time to keep its frames.
static COLD void prepare_definition(struct stack *stack, const struct stack_start *start) {
  struct stack_walk walk;
  stack->page = scratch_take();
  if (!stack->page || !walk_to_program(&walk, start)) {
    stack->id = 0;
    return;
  }
  uint64_t *words = (uint64_t *)stack->page;
  uint32_t count = 0;
  do words[count++] = frame_word(&walk);
  while (count < stack->frames && walk_on(&walk));
  if (count < stack->frames)
    stack->id = 0;  // libraries were loaded or unloaded in between
  else
    stack->definition_bytes = (1 + (count + 1) / 2) * MLRUN_UNIT_BYTES;
}

INLINE struct stack walk_stack(const struct stack_start *start) {
  struct stack stack = {0};
  struct stack_walk walk;
  if (!walk_to_program(&walk, start)) return stack;
  uint64_t hash = code_generation;
  do hash = mlrun_hash_mix(hash, walk.pc | (uint64_t)walk.interrupted << 63);
  while (++stack.frames < stack_depth && walk_on(&walk));
  stack.end = stack.frames == stack_depth ? MLRUN_STACK_DEPTH : walk.end;
  hash = mlrun_hash_mix(hash, stack.frames | (uint64_t)stack.end << 8);
  stack.id = hash & MLRUN_STACK_ID_MASK ? hash & MLRUN_STACK_ID_MASK : 1;
  if (unlikely(!is_defined(stack.id))) prepare_definition(&stack, start);
  return stack;
}

INLINE bool wants_no_stack(void) {
  return !stack_depth || in_vfork_child() || (*generation != control->state && !may_record());
}

__attribute__((noinline)) struct stack stack_of_program(void) {
  if (wants_no_stack()) return (struct stack){0};
  struct stack_start start = stack_start_of_caller();
  return walk_stack(&start);
}

COLD struct stack stack_from(const struct stack_start *start) {
  return wants_no_stack() ? (struct stack){0} : walk_stack(start);
}

COLD uint64_t *stack_write_definition(const struct stack *stack, uint64_t *at, uint8_t lap) {
  const uint64_t *words = (const uint64_t *)stack->page;
  uint32_t units = stack->definition_bytes / MLRUN_UNIT_BYTES;
  at[1] = stack->id;
  for (uint32_t i = 0; i < (units - 1) * 2; i++) {
    uint64_t word = i < stack->frames ? words[i] : 0;
    at[2 + i] = i % 2 ? word : word << 8;
  }
  publish(at, lap, units, MLRUN_STACK, stack->frames | (uint32_t)stack->end << 8);
  set_defined(stack->id);
  return at + units * (MLRUN_UNIT_BYTES / sizeof *at);
}

uint64_t *reserve_at_stack(uint64_t *site, uint32_t bytes, uint32_t kind, uint8_t *lap) {
  struct stack stack = stack_of_program();
  uint64_t *w = reserve(stack.definition_bytes + bytes, kind, lap);
  if (w) w = stack_write(&stack, w, *lap);
  if (stack.id) *site = MLRUN_SITE_IS_STACK | stack.id;
  stack_release(&stack);
  return w;
}
