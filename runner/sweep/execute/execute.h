// SPDX-License-Identifier: Apache-2.0
// Makes the runs of a plan, one after the other, and stores their results.
#pragma once

#include <optional>
#include <string>

#include "runner/sweep/plan/plan.h"
#include "runner/sweep/store/store.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

struct SweepRequest {
  std::optional<Plan> plan;  // absent with `resume`: the plan that OUT was made from
  std::string folder;        // OUT
  bool keep_all_traces = false;
  bool resume = false;  // OUT holds a sweep of this plan: make the runs that are missing
  bool extend = false;  // OUT holds a sweep of another plan: add the runs that only `plan` has. Also resumes
  bool quiet = false;   // no status line
};

// The sweep of the request: made, opened, or extended.
Result<Store> store_of(const SweepRequest& request);

// Enters the folder in which the first runs started, so that relative paths mean the same for later ones. Fails if
// a file of placement rules has changed since.
Status enter_directory(const Plan& plan);

// Makes all runs that are not done. 0: all succeeded; 1: some failed. A signal that stops it is an error with exit code 128 + signal (Ctrl-C:
// 130). Checks the plan, the programs and the privileges that it needs before it creates anything.
Result<int> execute(const SweepRequest& request);

}  // namespace mlrun::sweep
