// SPDX-License-Identifier: Apache-2.0
// Calls Slurm's command-line programs. A task is identified by the name of its job, which is new for each submission, since Slurm reuses
// job numbers.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "runner/sweep/plan/plan.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

struct ArrayTask {
  std::string job_name;
  int32_t index = 0;
  auto operator<=>(const ArrayTask&) const = default;
};

// The largest number of tasks that Slurm accepts in one array.
int32_t array_size_most();

// Submits an array of `tasks` tasks, numbered from 0, that each run `script` and write JOB_NAME-NUMBER.log in the folder. Returns the job's number.
Result<std::string> submit_array(const std::string& job_name, int32_t tasks, const std::string& script,
                                 const std::string& log_folder, const Words& options);

// Tasks of these jobs that wait or run.
Result<std::set<ArrayTask>> tasks_in_queue(const std::vector<std::string>& job_names);

// Slurm's state of a task that has left the queue, such as "NODE_FAIL" or "CANCELLED"; empty: Slurm has forgotten it, or reused its job
// number.
std::string state_of_task(const std::string& job_id, const ArrayTask& task);

}  // namespace mlrun::sweep
