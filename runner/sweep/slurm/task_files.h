// SPDX-License-Identifier: Apache-2.0
// What a sweep and its tasks on a cluster exchange, as files in the shared folder OUT:
//
//   OUT/slurm/NAME.json, NAME.sh          a submitted array: its plan, and the run of each task
//   OUT/slurm/NAME-INDEX.log              what the task printed
//   OUT/slurm/POSITION.ATTEMPT.json       the status of a run: written by its task when it begins and when it ends
//
// Each file has one writer and is replaced as a whole. No task opens the database: SQLite's locks do not hold on network file systems.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runner/sweep/store/rows.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

struct Submission {
  std::string job_name;       // the NAME of the array in the paths above, never used twice
  std::string job_id;         // Slurm's job number; empty: sbatch has not reported one
  std::vector<RunRow> tasks;  // by task index; planned rows, without results
};

std::string slurm_folder(const std::string& out);
std::string submission_path(const std::string& out, const std::string& job_name);

// `plan`: the plan that the submission's runs belong to.
Status write_submission(const std::string& out, const Plan& plan, const Submission& submission);

struct StoredSubmission {
  Plan plan;
  Submission submission;
};
Result<StoredSubmission> read_submission(const std::string& path);
// All submissions of the sweep, in any order.
Result<std::vector<Submission>> read_submissions(const std::string& out);

struct TaskStatus {
  RunRow run;
  std::string job_name, job_id, node;
};
Status write_status(const std::string& out, const TaskStatus& status);
// nullopt: the task has not begun.
Result<std::optional<TaskStatus>> read_status(const std::string& out, const RunRow& run);

}  // namespace mlrun::sweep
