// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/slurm/task.h"

#include <fcntl.h>
#include <sys/utsname.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "runner/sweep/execute/run_maker.h"
#include "runner/sweep/slurm/task_files.h"
#include "runner/util/number.h"
#include "runner/util/unique_fd.h"

namespace mlrun::sweep {

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string this_node() {
  utsname names{};
  ::uname(&names);
  const std::string of_slurm = variable("SLURMD_NODENAME");
  return of_slurm.empty() ? names.nodename : of_slurm;
}

// The states of one run go to its status file. The sweep's lock is on another machine.
class StatusLog final : public RunLog {
 public:
  StatusLog(std::string out, const StoredSubmission& stored)
      : out_(std::move(out)), plan_(stored.plan), job_name_(stored.submission.job_name) {}

  [[nodiscard]] const Plan& plan() const override { return plan_; }
  [[nodiscard]] int lock_fd() const override { return nothing_.get(); }
  Status set_running(const RunRow& run, const Processes& /*processes*/) override {
    RunRow running = run;
    running.state = RunState::kRunning;
    return set_ended(running);
  }
  Status set_ended(const RunRow& run) override {
    TaskStatus status{run, job_name_, variable("SLURM_ARRAY_JOB_ID"), this_node()};
    status.run.facts["node"] = status.node;
    status.run.facts["slurm_job"] = fmt::format("{}_{}", status.job_id, variable("SLURM_ARRAY_TASK_ID"));
    return write_status(out_, status);
  }
  Status set_helper(const Processes& /*processes*/) override { return {}; }

 private:
  std::string out_;
  const Plan& plan_;
  std::string job_name_;
  util::UniqueFd nothing_{::open("/dev/null", O_RDONLY | O_CLOEXEC)};  // for the supervisor to hold in place of a lock
};

Result<RunRow> make(Making& making, const RunRow& task) {
  // The page cache is this node's, so each task warms it.
  const int32_t rounds = making.plan().warm_up + (making.configuration(task).cache == Cache::kWarm ? 1 : 0);
  for (int32_t round = 0; round < rounds; ++round) {
    const auto warmed = warm_up(making, task);
    if (!warmed) return tl::make_unexpected(warmed.error());
    if (!*warmed) break;
  }
  auto made = make_run(making, task);
  if (!made || !made->interrupted || !making.signals.taken()) return made;
  made->failure = fmt::format("ended by Slurm with signal {}: scancel, a time limit or another job's precedence",
                              *making.signals.taken());
  if (Status stored = making.store.set_ended(*made); !stored) return tl::make_unexpected(stored.error());
  return made;
}

}  // namespace

Result<int> slurm_task(const Arguments& arguments) {
  if (arguments.size() != 2) return fail("slurm-task is only for the scripts that mlrun sweep --slurm writes");
  const std::string& number = arguments[1];
  const auto index = util::whole_number<size_t>(number);
  if (!index) return fail(fmt::format("'{}' is not a task number: SLURM_ARRAY_TASK_ID is not set", number));
  const auto stored = read_submission(arguments[0]);
  if (!stored) return tl::make_unexpected(stored.error());
  if (*index >= stored->submission.tasks.size()) return fail(fmt::format("{} has no task {}", arguments[0], number));
  RunRow run = stored->submission.tasks[*index];
  const std::string out = std::filesystem::path(arguments[0]).parent_path().parent_path().string();
  StopSignals signals;
  Progress progress(true);
  StatusLog log(out, *stored);
  Making making{out, log, signals, progress, fmt::format("slurm/{}.{}.", run.planned.position, run.attempt)};
  const auto made = make(making, run);
  if (made) return made->exit_status.value_or(made->state == RunState::kDone ? 0 : 1);
  // This node could not make the run: for instance its disk is full, or it lacks a program.
  run.state = RunState::kFailed;
  run.interrupted = true;
  run.failure = made.error().text;
  if (Status written = log.set_ended(run); !written) return tl::make_unexpected(written.error());
  return tl::make_unexpected(made.error());
}

}  // namespace mlrun::sweep
