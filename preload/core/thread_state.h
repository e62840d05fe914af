// SPDX-License-Identifier: Apache-2.0
// State of a thread between two hooked calls: one thread-local struct, initial-exec, so that an access costs one load
// and allocates nothing.
//
// A signal handler may run hooks, or jump out, between any two of our instructions. The words that keep the recorder
// consistent (cursor, spare_segment, channel) are therefore changed by one instruction each, and everything a
// reservation needs comes from the one word that its xadd returned.
#pragma once

#include <linux/futex.h>
#include <stdint.h>

#include "preload/core/alloc_sampler.h"

struct mlrun_channel;
struct pending_call;
struct exec_space;

#pragma GCC visibility push(hidden)

// Cursor: {lap 8 | segment 24 | offset 32}. An offset of NO_SEGMENT is behind the end of every segment, so that a
// reservation takes the slow path.
#define NO_SEGMENT 0x80000000ull

// Flag in vfork_depth: this is a thread of the tracer's own, whose calls are not recorded (producer_functions.c).
#define THREAD_HIDDEN 0x80000000u

// What a child that runs on this thread's state has noted of its seccomp filter (confinement.h). lock: the child's tid;
// with FUTEX_OWNER_DIED: it has no filter, or no longer shares this memory.
struct confined_child {
  struct robust_list_head list;
  struct robust_list entry;
  uint32_t lock;
};

struct thread_state {
  uint64_t cursor;
  struct mlrun_channel *channel;  // null: not registered, or in a vfork child
  struct pending_call *pending;   // innermost hooked call in progress (traced_call.h)
  uint64_t spare_segment;         // claimed, not yet installed: {lap 8 | segment + 1, 24 | 0}
  uint32_t channel_id;            // descriptor id, {segment * 16 + slot}
  uint32_t vfork_depth;           // above 0: a vfork child runs on this thread's stack and state
  uint64_t open_file_numbers;     // {end 32 | next 32} of those that this thread may still assign (file_identity.h)
  uint64_t vfork_start;
  uint64_t saved_cursor;  // of the parent, while its vfork child runs
  struct mlrun_channel *saved_channel;
  char *vfork_program;  // page with the path of the program that the vfork child executes (vfork_exec.h), or null
  uint32_t vfork_verdict;
  uint32_t tid;                          // 0: unknown so far
  struct exec_space *exec_spaces;        // taken for exec and not given back, last first (exec_space.h)
  struct exec_space *saved_exec_spaces;  // of the parent, while its vfork child runs
  struct alloc_sampler sampler;
  uint64_t stack_low,
      stack_high;  // of its own stack, as far as it is known to be readable (stack_bounds.h); 0: unknown so far
  struct confined_child confined_child;
};
_Static_assert(sizeof(struct thread_state) <= 256, "the static TLS block that dlopen draws on is small");

extern __thread struct thread_state this_thread __attribute__((tls_model("initial-exec")));

// A vfork child shares our memory but not our descriptors: nothing may be recorded and no table written there. The same
// holds in a hidden thread, because its calls are the tracer's own.
static inline _Bool in_vfork_child(void) { return this_thread.vfork_depth != 0; }

#pragma GCC visibility pop
