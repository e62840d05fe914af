// SPDX-License-Identifier: Apache-2.0
// Causes of GPU idle time, in the summary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runner/model/call_split.h"

namespace mlrun::summary {

inline constexpr size_t kTopIdle = 1000;

// Idle time of one GPU caused by one thread, by its activity and file.
struct GpuIdleSummary {
  int32_t gpu_id = 0;  // 0: unknown
  std::string label;   // as in table gpu_idle; "short" and "not listed": gaps that have no row in that table
  int32_t proc_id = 0, thread_id = 0;
  int32_t tid = 0;      // of the thread; 0: unknown
  int64_t file_id = 0;  // 0: none
  std::string path;
  int64_t time_ns = 0, pieces = 0;
  model::CallSplit split;   // split of calls on files, if the kernel was traced
  std::string python_line;  // for label "cpu": the Python line with most of the time, from samples; empty: none
  int64_t python_ns = 0;    // idle time attributed to that line
  std::string func;         // for label "waiting": the function with most of the time; empty: no recorded call
  int64_t func_ns = 0;      // idle time attributed to that function
};

}  // namespace mlrun::summary
