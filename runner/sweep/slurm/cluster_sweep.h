// SPDX-License-Identifier: Apache-2.0
// A sweep whose runs Slurm makes: submitted as arrays, collected into the database, resubmitted where they failed or are missing.
#pragma once

#include <string>

#include "runner/sweep/execute/execute.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

// Whether the runs of the sweep in `folder` were submitted to Slurm before: then --resume submits the missing ones to Slurm, too.
bool is_cluster_sweep(const std::string& folder);

// Submits all runs of a new sweep; with `resume` or `extend` collects, then submits runs that are missing or failed. `sbatch`: options of
// the program sbatch, as text; empty: the options that were given last.
Result<int> submit(const SweepRequest& request, const std::string& sbatch);

// Stores what the tasks have written. 0: all runs succeeded; 1: some failed, or have not ended.
Result<int> collect(const std::string& folder, bool quiet);

}  // namespace mlrun::sweep
