// SPDX-License-Identifier: Apache-2.0
// Adds up samples of Python stacks by thread and line, up to a limit; further ones together. Threads are
// sampled at different rates: each sample counts with the time that it represents.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "runner/model/stack_table.h"
#include "runner/summary/summary.h"

namespace mlrun::summary {

// Whether the source of a frame belongs to an installed package or to Python itself.
[[nodiscard]] bool is_installed(std::string_view source);

// The innermost Python frame outside of installed packages, else the innermost of all. Frames outside of the start of a multiprocessing process or a
// thread belong to its parent and do not count. Requires: a valid stack_id.
[[nodiscard]] int32_t own_frame(const model::StackTable& table, int32_t stack_id);

class PythonMeter {
 public:
  struct Sample {
    int32_t proc_id = 0, thread_id = 0;
    int32_t frame_id = 0;              // own_frame()
    int64_t count = 0, period_ns = 0;  // number of samples; time that they represent
    int32_t running = -1;              // 1, 0; -1: unknown
  };
  void add(const Sample& sample);

  // By role of the process and line; the driver thread's samples are separate. The first kTopPython by running time, then by samples.
  [[nodiscard]] std::vector<PythonSummary> finish(const std::vector<ProcessSummary>& processes,
                                                  const model::StackTable& stacks, int64_t driver_thread_id) const;

 private:
  static constexpr size_t kLinesMax = 200'000;
  struct Counts {
    int64_t all = 0, running = 0, waiting = 0, time_ns = 0, running_ns = 0;
  };
  std::map<std::tuple<int32_t, int32_t, int32_t>, Counts>
      lines_;  // by process, thread, frame; frame 0: lines beyond kLinesMax
};

}  // namespace mlrun::summary
