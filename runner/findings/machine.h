// SPDX-License-Identifier: Apache-2.0
// The machine while the command ran, from table sample_machine, or from sample_cpu where only that was sampled.
#pragma once

#include <algorithm>
#include <string>

#include "runner/model/run.h"
#include "runner/util/result.h"

namespace mlrun::findings {

// Means over the run, in numbers of processors; -1: unknown.
struct Machine {
  int processors = 1;
  double idle = -1;
  double stolen = -1;
  double busy = -1;
  double own = -1;       // used by the command and its children
  double quota = -1;     // limit of the command's cgroup
  double throttled = 0;  // processors that this limit took from the cgroup's threads
  // Share of the time in which a thread waited for a processor: the machine's or its cgroup's, whichever is larger.
  double pressure = -1;

  // Processors that the command had or could have had.
  [[nodiscard]] double usable() const {
    const double all = idle < 0 || own < 0 ? processors : own + idle;
    return quota > 0 ? std::min(all, quota) : all;
  }
  // Processors that further threads of the command could use.
  [[nodiscard]] double free() const {
    if (idle < 0 || quota <= 0 || own < 0) return idle;
    return std::min(idle, std::max(0.0, quota - own));
  }
};

// Traces of earlier versions lack the tables: the values from them stay unknown.
Result<Machine> read_machine(const std::string& folder, const model::Run& run);

}  // namespace mlrun::findings
