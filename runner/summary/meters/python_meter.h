// SPDX-License-Identifier: Apache-2.0
// Adds up samples of Python stacks by process and innermost line, up to a limit; further ones together. Threads are
// sampled at different rates: each sample counts with the time that it stands for.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "runner/model/stack_table.h"
#include "runner/summary/summary.h"

namespace mlrun::summary {

class PythonMeter {
 public:
  // `running`: 1, 0; -1: unknown.
  void add(int32_t proc_id, int32_t frame_id, int64_t looks, int64_t period_ns, int32_t running);

  // By role of the processes and line, the first kTopPython by running time, then by samples.
  [[nodiscard]] std::vector<PythonSummary> finish(const std::vector<ProcessSummary>& processes,
                                                  const model::StackTable& stacks) const;

 private:
  static constexpr size_t kLinesMax = 200'000;
  struct Looks {
    int64_t all = 0, running = 0, time_ns = 0, running_ns = 0;
  };
  std::map<std::pair<int32_t, int32_t>, Looks> lines_;  // process, frame; frame 0: those that did not fit
};

}  // namespace mlrun::summary
