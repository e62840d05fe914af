// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/plan/figure_names.h"

#include "runner/summary/answer.h"

namespace mlrun::sweep {

const std::vector<std::string>& figures_of_every_run() {
  static const std::vector<std::string> kNames = {"wall_s",       "user_s",       "sys_s",     "max_rss_bytes",
                                                  "major_faults", "input_blocks", "read_bytes"};
  return kNames;
}

const std::vector<std::string>& figures_of_traces() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names = {"io_s",          "bytes_read",      "bytes_written", "device_read_bytes",
                                      "missing_bytes", "without_batch_s", "startup_s",     "heap_peak_bytes",
                                      "epoch_1_s",     "later_epochs_s",  "step_s",        "gpu_busy_s"};
    for (const char* activity : summary::kActivityNames) names.push_back(std::string("activity_") + activity + "_s");
    return names;
  }();
  return kNames;
}

}  // namespace mlrun::sweep
