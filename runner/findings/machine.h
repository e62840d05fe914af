// SPDX-License-Identifier: Apache-2.0
// The machine while the command ran, from table sample_machine.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "runner/util/result.h"

namespace mlrun::findings {

// Means over the run, in processors; -1: unknown.
struct Machine {
  int processors = 1;
  double idle = -1;
  double stolen = -1;
  double busy = -1;
  double own = -1;  // of the command and its children

  // Processors that the command had or could have had.
  [[nodiscard]] double usable() const { return idle < 0 || own < 0 ? processors : own + idle; }
};

// A trace of an earlier version has no such samples.
Result<Machine> read_machine(const std::string& folder, const nlohmann::json& run);

}  // namespace mlrun::findings
