// SPDX-License-Identifier: Apache-2.0
// How another injected library records through the interposer of its process: they share one attachment, one process
// number, and one channel for each thread.
//
//   extern const struct mlrun_producer *mlrun_producer(void) __attribute__((weak));    exported by the interposer
//
//   __u64 now = producer->clock();                     0: nothing is recorded now
//   __u64 *w = producer->reserve(64, &lap);            null: the record is dropped, and counted if it must be
//   w[1] = now; w[2] = ...                             every word of every unit but the first
//   *(volatile __u64 *)w = mlrun_word0(lap, ...);      the first word, last
//
// The other library exports mlrun_producer_user; its address lets the interposer recognise the library's code, whose
// frames are not the program's. It is never called.
//
// The functions may be called by any thread and do not change errno.
#pragma once

#include <stdbool.h>

#include "runner/events/arena.h"
#include "runner/events/record.h"

#define MLRUN_PRODUCER_VERSION 6u

extern void mlrun_producer_user(void) __attribute__((weak));

// Registers of a function of the program, where it called into a library of the tracer.
struct mlrun_registers {
  __u64 pc, sp, bp;
};

struct mlrun_producer {
  __u32 version;
  __u32 (*streams)(void);  // enum mlrun_stream bits of the session; 0: the process is not traced
  __u64 (*clock)(void);
  __u64 (*monotonic_ns)(void);
  __u64 *(*reserve)(__u32 bytes, __u8 *lap);

  // The id of a text (cut at 12288 bytes). *record_bytes: size of the definition that must precede the record with the
  // id; 0: this process has written it. If not 0, call write_string before the record is published, string_written after.
  __u64 (*string_id)(const char *text, __u64 bytes, __u64 *record_bytes);
  void (*write_string)(__u64 *at, __u8 lap, __u64 id, const char *text, __u64 bytes);
  void (*string_written)(__u64 id);

  // Whether stacks are recorded (--stacks).
  bool (*records_stacks)(void);
  // Writes and publishes the definitions that the caller's stack needs, and reserves `bytes` after them. *stack_id 0: no
  // stack. Null: the record is dropped.
  __u64 *(*reserve_at_stack)(const struct mlrun_registers *caller, __u32 bytes, __u64 *stack_id, __u8 *lap);

  // The next function of that name in libraries after the interposer; null: there is none.
  void (*(*function)(const char *name))(void);
  // libc's function of that name, even if the program has others.
  void (*(*function_of_libc)(const char *name))(void);

  // Above this rate, nodes of CUDA graphs are folded into their launch. 0: every node is recorded.
  __u32 (*graph_nodes_per_s)(void);

  // Must be called when the recording of GPU work has begun in this process.
  void (*count_gpu_process)(void);

  // The calling thread is the tracer's own: its calls are not recorded, only the records that it writes itself.
  void (*hide_thread)(void);

  // `hook` is called where the image ends: _exit, quick_exit and exec, and again if exec fails and the image continues.
  // It may be called in a signal handler, and in a forked child, but not in a vfork child and not after seccomp.
  void (*before_end)(void (*hook)(void));

  // False permanently once the program has called seccomp: from then on the tracer must make no system call.
  bool (*may_call_kernel)(void);

  // Incremented each time the program has closed a library: an address may then belong to another library than before.
  __u32 (*libraries_closed)(void);
};
