// SPDX-License-Identifier: Apache-2.0
// A plan from its file, checked whole: keys, types, programs, options, placement, names. Creates nothing. An error has one line
// for each fault, each with the file, the line and the key.
#pragma once

#include <string>
#include <vector>

#include "runner/sweep/plan/plan.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

// `modes`: a file of six columns with the configurations, of which the plan then has none; empty: none.
Result<Plan> read_plan(const std::string& file, const std::string& modes = {});

// The same of Plan::text. `file` is for messages.
Result<Plan> parse_plan(const std::string& text, const std::string& file);

// What `runs [--modes FILE] OUT N WORKLOAD...` asks for.
Result<Plan> plan_of_runs(const std::string& modes, const std::string& repetitions,
                          const std::vector<std::string>& workloads);

}  // namespace mlrun::sweep
