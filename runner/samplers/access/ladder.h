// SPDX-License-Identifier: Apache-2.0
// The ladder of --access: which rungs this machine has, in the order in which they are chosen.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runner/options/options.h"
#include "runner/samplers/access/rung.h"

namespace mlrun::access {

// With a number beside the name, for messages.
inline constexpr uint64_t kStallMaxNs =
    20'000'000;  // clear-refs is chosen by itself only for windows that stall for less

// A word of --access.
// In one line, for the trace and the summary.
const char* rung_is_blind_to(mlrun_access_rung rung);

// A rung that has been tried on this machine.
struct TriedRung {
  mlrun_access_rung rung;
  std::string problem;  // why it cannot be used; empty: it can
  std::string remark;   // what it costs
};

// The rung and, if it can be used, what samples the command by it.
struct ChosenRung {
  TriedRung tried;
  std::unique_ptr<Rung> made;
};

// Tries one rung: what it measures takes up to 0.1 s. `is_named`: its stalls are accepted.
ChosenRung try_rung(mlrun_access_rung rung, const AccessOptions& options, bool is_named);

// The first rung that can be used, or all those that the options name. `tried` has all that were looked at.
std::vector<ChosenRung> choose_rungs(const AccessOptions& options, std::vector<TriedRung>& tried);

// All of them, for doctor.
std::vector<TriedRung> try_all_rungs();

}  // namespace mlrun::access
