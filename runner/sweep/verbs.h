// SPDX-License-Identifier: Apache-2.0
// The verbs of mlrun-sweep. Each returns the exit status.
#pragma once

#include <string>
#include <vector>

#include "runner/util/result.h"

namespace mlrun::sweep {

using Arguments = std::vector<std::string>;  // the words after the verb

Result<int> run_plan(const Arguments& arguments);  // PLAN -o OUT, --dry-run, --resume, --extend, --modes
Result<int> slurm_task(const Arguments& arguments);
Result<int> list(const Arguments& arguments);
Result<int> stat(const Arguments& arguments);
Result<int> compare(const Arguments& arguments);
Result<int> history(const Arguments& arguments);
Result<int> advise(const Arguments& arguments);  // mlrun advise

}  // namespace mlrun::sweep
