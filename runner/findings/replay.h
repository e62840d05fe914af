// SPDX-License-Identifier: Apache-2.0
// What a training would take if its loader were different: the batches of its workers, replayed.
//
// Model: the tasks go round the workers, each worker makes its batches one after the other, the loop takes them in order and sends the
// next task when it has taken one. A batch takes its worker as long as it did in the trace; so does the loop between two batches.
// Processors are a limit: what workers and loop compute takes at least its sum divided by their number.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/blame/analyse.h"
#include "runner/blame/batch_list.h"
#include "runner/util/result.h"

namespace mlrun::findings {

using blame::Ns;

inline constexpr double kReplayError = 0.05;  // a replay that is further off predicts nothing

struct WhatIf {
  int64_t workers = 0;  // 0: as they were
  bool files_cost_nothing = false;
  bool no_slow_batch = false;  // none slower than the median
};

// "workers=4", "io=free", "slow=none", several joined by commas.
Result<WhatIf> parse_what_if(const std::string& text);

struct Replayed {
  Ns measured_ns = 0;   // from the first task to the last batch, all epochs together
  Ns replayed_ns = 0;   // the same, replayed as it was
  Ns predicted_ns = 0;  // with the change
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
    double service_ns = 0, files_ns = 0;  // files: a part of the service
    double cpu_ns = 0, files_cpu_ns = 0;  // on a processor; of it in files
    double own_ns = 0;                    // of the loop, after it took this batch
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
