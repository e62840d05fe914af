// SPDX-License-Identifier: Apache-2.0
// Samples of the Python stacks of processes: payload of frames of type MLRUN_FRAME_PYTHON. A header, then arrays, in
// this order:
//
//   samples[]  stacks[]  steps[]  frames[]  texts[]  bytes
//
// All indexes into another array count from 0. A spool frame can be read without any other, so freed and damaged frames
// of a spool lose only their own samples.
#pragma once

#include "runner/events/types.h"

struct mlrun_frame_python {
  __u32 samples, stacks, steps, frames, texts, text_bytes;
  __u32 sample_bytes;  // of a samples[] entry; 0: MLRUN_PYTHON_SAMPLE_SHORT (older: ends before period_ns)
  __u32 spare;
};
enum { MLRUN_PYTHON_SAMPLE_SHORT = 40 };

// A thread in one sample, or in several consecutive ones that found it asleep at the same place. New fields only at its end.
struct mlrun_python_sample {
  __u64 first_ns, last_ns;  // CLOCK_MONOTONIC
  __u32 process;            // number of the process (mlrun_frame_channel.process)
  __u32 tid;                // in the process's own pid namespace
  __u32 stack, samples;
  __s32 running;    // 1: on a processor or in the run queue; 0: not; -1: unknown
  __u32 state;      // letter of /proc/PID/task/TID/stat; 0: unknown
  __u64 period_ns;  // time that the row represents: of each sample, since the thread's previous one; 0: unknown
  __u32 loops;      // text, from 1 on: how far its loops had got (runner/samplers/python/loop_reader.h); 0: not known
  __u32 spare;
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_python_sample) == 56, "Python sample");

struct mlrun_python_stack {
  __u32 first, frames;  // steps, innermost first; each is the index of a stack frame
  __u32 cut;            // 1: the stack had more frames than are read
  __u32 spare;
};

struct mlrun_python_frame {
  __u32 file, function;  // texts: co_filename, co_qualname
  __s32 line;            // executed at that moment; 0: the code has none there
};

// UTF-8; invalid bytes are kept.
struct mlrun_python_text {
  __u32 first, bytes;
};
