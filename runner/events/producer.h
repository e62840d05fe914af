// SPDX-License-Identifier: Apache-2.0
// How another injected library records through the interposer that is in its process already: one attachment, one
// process number, one channel for each thread, whoever records.
//
//   extern const struct mlrun_producer *mlrun_producer(void) __attribute__((weak));    exported by the interposer
//
//   __u64 now = producer->clock();                     0: nothing is to be recorded now
//   __u64 *w = producer->reserve(64, &lap);            null: dropped, and counted where it must be
//   w[1] = now; w[2] = ...                             every word of every unit but the first
//   *(volatile __u64 *)w = mlrun_word0(lap, ...);      the first word, last
//
// The other library exports mlrun_producer_user, by whose place the interposer knows its code: frames of it are none of the
// program's. It is never called.
//
// The functions may be called by any thread and leave errno alone.
#pragma once

#include <stdbool.h>

#include "runner/events/arena.h"
#include "runner/events/record.h"

#define MLRUN_PRODUCER_VERSION 5u

extern void mlrun_producer_user(void) __attribute__((weak));

// Of a function of the program, where it called into a library of the tracer.
struct mlrun_registers {
  __u64 pc, sp, bp;
};

struct mlrun_producer {
  __u32 version;
  __u32 (*streams)(void);  // enum mlrun_stream bits of the session; 0: the process is not traced
  __u64 (*clock)(void);
  __u64 (*monotonic_ns)(void);
  __u64 *(*reserve)(__u32 bytes, __u8 *lap);

  // The id of a text (cut at 12288 bytes); *record_bytes: what its definition takes in front of the record that needs it,
  // 0: this process has written it. Then, if it is not 0, the two others: before and after the record is published.
  __u64 (*string_id)(const char *text, __u64 bytes, __u64 *record_bytes);
  void (*write_string)(__u64 *at, __u8 lap, __u64 id, const char *text, __u64 bytes);
  void (*string_written)(__u64 id);

  // Stacks are recorded (--stacks).
  bool (*records_stacks)(void);
  // Reserves `bytes` behind what has to stand before a record with this stack, and publishes that. *stack_id: 0: there is
  // none. Null: dropped.
  __u64 *(*reserve_at_stack)(const struct mlrun_registers *caller, __u32 bytes, __u64 *stack_id, __u8 *lap);

  // The function of that name in the libraries behind the interposer; null: there is none.
  void (*(*function)(const char *name))(void);
  // libc's function of that name, past others of the program that have it.
  void (*(*function_of_libc)(const char *name))(void);

  // Above this rate nodes of CUDA graphs are folded into their launch. 0: all.
  __u32 (*graph_nodes_per_s)(void);

  // The recording of GPU work has begun in this process.
  void (*count_gpu_process)(void);

  // The calling thread is the tracer's own: its calls are not recorded, only what it records itself.
  void (*hide_thread)(void);

  // `hook` is called where the image ends: _exit, quick_exit and exec, and where it goes on after all if exec fails. It
  // may be called in a signal handler, and in a forked child, but not in a vfork child and not after seccomp.
  void (*before_end)(void (*hook)(void));

  // False for good once the program has called seccomp: from then on no system call may be made on the tracer's account.
  bool (*may_call_kernel)(void);
};
