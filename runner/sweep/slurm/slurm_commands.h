// SPDX-License-Identifier: Apache-2.0
// Slurm by its commands. Tasks are known by the name of their job, which is new for each submission: Slurm uses the numbers of jobs again.
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

// How many tasks an array may have.
int32_t array_size_most();

// Submits an array of `tasks` tasks, numbered from 0, that each run `script` and write JOB_NAME-NUMBER.log in the folder. Returns the job's number.
Result<std::string> submit_array(const std::string& job_name, int32_t tasks, const std::string& script,
                                 const std::string& log_folder, const Words& options);

// Tasks of these jobs that wait or run.
Result<std::set<ArrayTask>> tasks_in_queue(const std::vector<std::string>& job_names);

// What Slurm still knows of a task that has left the queue: "NODE_FAIL", "CANCELLED"; empty: nothing, or the number is another job's by now.
std::string state_of_task(const std::string& job_id, const ArrayTask& task);

}  // namespace mlrun::sweep
