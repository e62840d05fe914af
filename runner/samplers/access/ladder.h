// SPDX-License-Identifier: Apache-2.0
// The ladder of --access: mechanisms (rungs) that see accesses to memory, in the order in which they are tried. Finds out which of them work
// on this machine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runner/options/options.h"
#include "runner/samplers/access/rung.h"

namespace mlrun::access {

// Unless --access names clear-refs, windows whose clearing would delay page faults longer than this are left out.
inline constexpr uint64_t kStallMaxNs = 20'000'000;

// What the rung cannot see, in one line, for the trace and the summary.
std::string rung_is_blind_to(mlrun_access_rung rung);

// A rung that has been tried on this machine.
struct TriedRung {
  mlrun_access_rung rung;
  std::string problem;    // why the rung cannot be used; empty: it can
  std::string remark;     // what else the rung does to the program, or which events it uses
  std::string cost;       // calibrated, as in its facts(); set for `mlrun doctor` alone
  bool is_asked = false;  // the user asked for this rung
};

// A tried rung and, if it can be used, the object that samples the command by it.
struct ChosenRung {
  TriedRung tried;
  std::unique_ptr<Rung> made;
};

// Tries one rung, which takes up to 0.1 s. `is_named`: the user named it, so windows are never left out for their stalls, and a
// policy of memory is no reason against it.
ChosenRung try_rung(mlrun_access_rung rung, const AccessOptions& options, bool is_named);

// The first rung that can be used, or all usable ones that the options name. `tried` gets every rung that was tried.
std::vector<ChosenRung> choose_rungs(const AccessOptions& options, std::vector<TriedRung>& tried);

// Tries all rungs, for `mlrun doctor`.
std::vector<TriedRung> try_all_rungs();

}  // namespace mlrun::access
