// SPDX-License-Identifier: Apache-2.0
// Predicts how long a training would take with a different loader, by replaying the batches of its workers.
//
// Model: tasks are given to the workers in turn. Each worker makes its batches one after the other. The loop takes batches in order and sends the
// next task after each. A worker's time per batch and the loop's time between batches are those of the trace. The total is at least the processor
// time of workers and loop, divided by the number of processors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/blame/analyse.h"
#include "runner/blame/batch_list.h"
#include "runner/util/result.h"

namespace mlrun::findings {

using blame::Ns;

inline constexpr double kReplayError = 0.05;  // a replay with a larger error predicts nothing

struct WhatIf {
  int64_t workers = 0;  // 0: unchanged
  bool files_cost_nothing = false;
  bool no_slow_batch = false;  // batches slower than the median take the median time
};

// Parses "workers=4", "io=free", "slow=none", or several of them joined by commas.
Result<WhatIf> parse_what_if(const std::string& text);

struct Replayed {
  Ns measured_ns = 0;   // from the first task to the last batch, added up over epochs
  Ns replayed_ns = 0;   // replay of the unchanged run
  Ns predicted_ns = 0;  // replay with the change
  int64_t batches = 0, workers = 0;
  bool limited_by_processors = false;

  [[nodiscard]] double error() const {
    return measured_ns == 0 ? 0 : static_cast<double>(replayed_ns - measured_ns) / static_cast<double>(measured_ns);
  }
};

class Replay {
 public:
  // Requires: the analysis outlives this.
  Replay(blame::Analysis& analysis, double processors);
  [[nodiscard]] bool empty() const { return epochs_.empty(); }
  [[nodiscard]] Replayed run(const WhatIf& change) const;

 private:
  struct Task {
    double service_ns = 0, files_ns = 0;  // the worker's time for the batch; its part in files
    double cpu_ns = 0, files_cpu_ns = 0;  // processor time of the worker for the batch; its part in files
    double own_ns = 0;                    // the loop's own time after it took this batch
  };
  struct Loader {
    std::vector<Task> tasks;
    int64_t workers = 1, ahead = 2;
    Ns measured_ns = 0;
    double own_cpu_ns = 0;
  };
  static double simulate(const Loader& loader, const std::vector<double>& service_ns, int64_t workers);

  std::vector<Loader> epochs_;
  double processors_;
};

}  // namespace mlrun::findings
