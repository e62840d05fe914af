// SPDX-License-Identifier: Apache-2.0
#include "preload/record/producer_functions.h"

#include "preload/base/next_symbol.h"
#include "preload/core/recorder.h"
#include "preload/record/channel.h"
#include "preload/record/library_record.h"
#include "preload/record/stack_record.h"
#include "preload/record/strings.h"
#include "preload/unwind/stack_walk.h"
#include "runner/events/producer.h"

static void (*end_hook)(void);

void record_end(void) {
  void (*hook)(void) = __atomic_load_n(&end_hook, __ATOMIC_ACQUIRE);
  if (hook) hook();
}

static uint32_t streams(void) { return recording_is_on() ? control->streams : 0; }

// Makes a hidden thread a normal one while it writes a record through these functions: only its calls are not recorded.
static uint32_t show(void) {
  uint32_t hidden = this_thread.vfork_depth & THREAD_HIDDEN;
  this_thread.vfork_depth &= ~THREAD_HIDDEN;
  return hidden;
}
static void hide_again(uint32_t hidden) { this_thread.vfork_depth |= hidden; }

static __u64 producer_clock(void) {
  uint32_t hidden = show();
  uint64_t now = stamp();
  hide_again(hidden);
  return now;
}

static __u64 producer_monotonic_ns(void) { return monotonic_ns(); }

// Other libraries record only GPU work through us.
static __u64 *producer_reserve(uint32_t bytes, uint8_t *lap) {
  uint32_t hidden = show();
  uint64_t *words = reserve(bytes, MLRUN_GPU_API, lap);
  hide_again(hidden);
  return (__u64 *)words;
}

static __u64 string_id(const char *text, __u64 bytes, __u64 *record_bytes) {
  size_t more;
  uint64_t id = long_string_prepare(text, bytes, &more);
  *record_bytes = more;
  return id;
}

static void write_string(__u64 *at, uint8_t lap, __u64 id, const char *text, __u64 bytes) {
  long_string_write((uint64_t *)at, lap, id, text, bytes);
}

static void string_written(__u64 id) { string_emitted(id); }

static bool records_stacks(void) { return stack_depth != 0; }

static __u64 *reserve_at_stack_of(const struct mlrun_registers *caller, uint32_t bytes, __u64 *stack_id, uint8_t *lap) {
  struct stack stack = stack_from(&(struct stack_start){.pc = caller->pc, .sp = caller->sp, .bp = caller->bp});
  uint64_t *words = reserve(stack.definition_bytes + bytes, MLRUN_GPU_API, lap);
  if (words) words = stack_write(&stack, words, *lap);
  *stack_id = stack.id;
  stack_release(&stack);
  return (__u64 *)words;
}

static __u32 graph_nodes_per_s(void) { return control->graph_nodes_per_s; }

static void count_gpu_process(void) { __atomic_add_fetch(&control->gpu_processes, 1, __ATOMIC_RELAXED); }

static void hide_thread(void) { this_thread.vfork_depth |= THREAD_HIDDEN; }

static bool may_call_kernel(void) { return recording_system_calls_allowed(); }

static __u32 libraries_closed(void) { return __atomic_load_n(&closed_libraries, __ATOMIC_ACQUIRE); }

static void before_end(void (*hook)(void)) { __atomic_store_n(&end_hook, hook, __ATOMIC_RELEASE); }

static const struct mlrun_producer producer = {.version = MLRUN_PRODUCER_VERSION,
                                               .streams = streams,
                                               .clock = producer_clock,
                                               .monotonic_ns = producer_monotonic_ns,
                                               .reserve = producer_reserve,
                                               .string_id = string_id,
                                               .write_string = write_string,
                                               .string_written = string_written,
                                               .records_stacks = records_stacks,
                                               .reserve_at_stack = reserve_at_stack_of,
                                               .function = next_symbol,
                                               .function_of_libc = libc_symbol,
                                               .graph_nodes_per_s = graph_nodes_per_s,
                                               .count_gpu_process = count_gpu_process,
                                               .hide_thread = hide_thread,
                                               .before_end = before_end,
                                               .may_call_kernel = may_call_kernel,
                                               .libraries_closed = libraries_closed};

const struct mlrun_producer *mlrun_producer(void);
EXPORT const struct mlrun_producer *mlrun_producer(void) { return &producer; }
