// SPDX-License-Identifier: Apache-2.0
// Pages without a file whose node was asked for: rows of frames of type MLRUN_FRAME_SAMPLES (gpu_sample.h). The rows of one sample of the memory of a
// process have the same time, pid and rule. Rows only grow at their end.
#pragma once

#include "runner/events/gpu_sample.h"

struct mlrun_page_sample {
  __u64 monotonic_ns;
  __u64 address;  // of the page
  __u64 bytes;    // that the page represents
  __u32 host_pid;
  __s16 rule;  // of --place, from 0; -1: memory that no rule places, under a policy for the whole command
  __s16 node;
};
MLRUN_STATIC_ASSERT(sizeof(struct mlrun_page_sample) == 32, "sample of a page");
