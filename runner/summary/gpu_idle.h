// SPDX-License-Identifier: Apache-2.0
// Who made the GPUs wait, in the summary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runner/model/call_split.h"

namespace mlrun::summary {

inline constexpr size_t kTopIdle = 1000;

// Idle time of one GPU that one thread is to blame for, by what it did and on which file.
struct GpuIdleSummary {
  int32_t gpu_id = 0;  // 0: not known which
  std::string label;   // as in gpu_idle; "short", "not listed": gaps that have no row there
  int32_t proc_id = 0, thread_id = 0;
  int32_t tid = 0;      // of the thread; 0: not known
  int64_t file_id = 0;  // 0: none
  std::string path;
  int64_t time_ns = 0, pieces = 0;
  model::CallSplit split;  // of calls on files, with the kernel side
  std::string
      python_line;        // of label "cpu": the line of Python with most of the time, as far as looks tell; empty: none
  int64_t python_ns = 0;  // of the pieces that were found there
  std::string func;     // of label "waiting": the call with most of the time; empty: it waited in none that is recorded
  int64_t func_ns = 0;  // in it
};

}  // namespace mlrun::summary
