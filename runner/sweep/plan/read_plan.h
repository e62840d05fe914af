// SPDX-License-Identifier: Apache-2.0
// A plan from its file, checked whole: keys, types, programs, options, placement (RunsOn), names. Creates nothing. An error has one line
// for each fault, each with the file, the line and the key.
#pragma once

#include <string>
#include <vector>

#include "runner/sweep/plan/plan.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

// `modes`: a modes file (modes_draft.h) with the configurations, and the plan must have none; empty: no such file.
Result<Plan> read_plan(const std::string& file, const std::string& modes = {}, RunsOn runs_on = RunsOn::kThisMachine);

// The same from the text of a plan (Plan::text). `file`: the name that messages show.
Result<Plan> parse_plan(const std::string& text, const std::string& file, RunsOn runs_on = RunsOn::kThisMachine);

// What `runs [--modes FILE] OUT N WORKLOAD...` asks for.
Result<Plan> plan_of_runs(const std::string& modes, const std::string& repetitions,
                          const std::vector<std::string>& workloads, RunsOn runs_on = RunsOn::kThisMachine);

}  // namespace mlrun::sweep
