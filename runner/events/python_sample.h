// SPDX-License-Identifier: Apache-2.0
// Looks at the Python stacks of processes: payload of frames of type MLRUN_FRAME_PYTHON. A header, then arrays, in this
// order:
//
//   samples[]  stacks[]  steps[]  frames[]  texts[]  bytes
//
// All numbers that name an entry of another array count from 0. A frame needs no other frame to be read, so freed and
// damaged parts of a spool take nothing but their own samples with them.
#pragma once

#include "runner/events/types.h"

struct mlrun_frame_python {
  __u32 samples, stacks, steps, frames, texts, text_bytes;
  __u32 spare[2];
};

// A thread at one look, or at several in a row that found it asleep in the same place.
struct mlrun_python_sample {
  __u64 first_ns, last_ns;  // CLOCK_MONOTONIC
  __u32 process;            // number of the process (mlrun_frame_channel.process)
  __u32 tid;                // as the process itself sees it
  __u32 stack, looks;
  __s32 running;  // 1: on a processor or in the run queue; 0: not; -1: not known
  __u32 spare;
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_python_sample) == 40, "Python sample");

struct mlrun_python_stack {
  __u32 first, frames;  // steps, innermost first; each is a number of a frame
  __u32 cut;            // 1: there were more frames than are read
  __u32 spare;
};

struct mlrun_python_frame {
  __u32 file, function;  // texts: co_filename, co_qualname
  __s32 line;            // executed at that moment; 0: the code has none there
};

// UTF-8; bytes of a name that are none stand as they are.
struct mlrun_python_text {
  __u32 first, bytes;
};
