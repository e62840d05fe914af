// SPDX-License-Identifier: Apache-2.0
// What a task of an array does: `mlrun-sweep slurm-task SUBMISSION INDEX`, on the node that Slurm chose.
#pragma once

#include "runner/sweep/verbs.h"

namespace mlrun::sweep {

// Makes one run and writes its status file. The exit status is that of the run's command, for Slurm's own records.
Result<int> slurm_task(const Arguments& arguments);

}  // namespace mlrun::sweep
