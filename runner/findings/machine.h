// SPDX-License-Identifier: Apache-2.0
// The machine while the command ran, from table sample_machine.
#pragma once

#include <algorithm>
#include <string>

#include "runner/model/run.h"
#include "runner/util/result.h"

namespace mlrun::findings {

// Means over the run, in processors; -1: unknown.
struct Machine {
  int processors = 1;
  double idle = -1;
  double stolen = -1;
  double busy = -1;
  double own = -1;       // of the command and its children
  double quota = -1;     // the limit of its cgroup
  double throttled = 0;  // what that limit took from its threads
  double pressure = -1;  // share of the time in which a thread of the machine, or of its cgroup, waited for a processor

  // Processors that the command had or could have had.
  [[nodiscard]] double usable() const {
    const double all = idle < 0 || own < 0 ? processors : own + idle;
    return quota > 0 ? std::min(all, quota) : all;
  }
  // Processors that more threads of the command could use.
  [[nodiscard]] double free() const {
    if (idle < 0 || quota <= 0 || own < 0) return idle;
    return std::min(idle, std::max(0.0, quota - own));
  }
};

// A trace of an earlier version has no such samples.
Result<Machine> read_machine(const std::string& folder, const model::Run& run);

}  // namespace mlrun::findings
